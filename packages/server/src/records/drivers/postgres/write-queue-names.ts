import { networkOf } from '../../../quota-rule/network-of.ts'
import type { WriteInput, WriteName } from '../../sql/writes.ts'

/** Writes of one queue change the same rows: they follow each other, on all machines, instead of undoing each other. */
type QueueNames = { readonly [Name in WriteName]: ((input: WriteInput<Name>) => string) | null }

/** Principals of one network share the counters of its day. */
const principalOf = ({ principal }: { principal: string }): string => `principal ${networkOf(principal) ?? principal}`
const upkeep = (): string => 'upkeep'
const placement = (): string => 'placement'
const chain = (): string => 'chain'

/** By write; null for those that rarely meet another one. */
const QUEUE_NAMES: QueueNames = {
  reserve: principalOf,
  commit: ({ file }) => principalOf(file),
  commitAtOnce: ({ admit }) => principalOf(admit),
  compose: ({ file }) => principalOf(file),
  removeFile: principalOf,
  claim: null,
  release: null,
  extendLeases: null,
  releaseExpired: upkeep,
  expireFiles: upkeep,
  postponeFiles: upkeep,
  releaseEnded: upkeep,
  reviveFiles: upkeep,
  sweepBlocks: upkeep,
  registerInstance: upkeep,
  deregisterInstance: upkeep,
  signUp: ({ address }) => `signups of ${address}`,
  revokeToken: null,
  touchTokens: () => 'touch tokens',
  openLoginCode: () => 'challenges',
  withdrawLoginCode: () => 'challenges',
  answerLoginCode: () => 'challenges',
  expireLoginCodes: () => 'challenges',
  useNonce: null,
  issueNonce: null,
  redeemNonce: null,
  expireNonces: upkeep,
  beginDiscard: null,
  finishDiscard: null,
  planOrphan: null,
  letOrphansBe: upkeep,
  usePut: null,
  forgetPuts: null,
  setMark: null,
  setChunkDigests: null,
  setDamaged: null,
  clearDamaged: null,
  sealRows: upkeep,
  offerSecret: () => 'secrets',
  replaceSecret: () => 'secrets',
  offerInstallation: () => 'installation',
  pairInstallation: () => 'installation',
  raiseInstallation: () => 'installation',
  replaceInstallation: () => 'installation',
  takeLease: ({ name }) => `lease of ${name}`,
  giveBackLease: ({ name }) => `lease of ${name}`,
  openOffer: null,
  closeOffer: null,
  expireOffers: upkeep,
  enrolFiles: placement,
  wantCopies: placement,
  extendFile: placement,
  aggregateFiles: placement,
  dissolveAggregate: placement,
  reconcilePiece: placement,
  markAllUnreconciled: placement,
  copyParked: placement,
  copyLater: placement,
  failCopy: placement,
  copyAudited: placement,
  copyRemoved: placement,
  openAddition: placement,
  additionSent: placement,
  additionLater: placement,
  additionConfirmed: placement,
  additionRejected: placement,
  queueDeals: chain,
  proposeDeals: chain,
  recordTransaction: chain,
  addTransactionAttempt: chain,
  transactionMined: chain,
  transactionReorganised: chain,
  transactionFinal: chain,
  transactionSuperseded: chain,
}

/**
 * The queue for contention. Its value is the name of a lock, which other versions take too. A write in it has the records to itself:
 * writes that {@link meetsContention} names wait for it in their queues.
 */
export const CONTENTION = 'crowd'

const CONTENDING: ReadonlySet<WriteName> = new Set<WriteName>([
  'reserve',
  'claim',
  'commit',
  'commitAtOnce',
  'compose',
  'release',
  'removeFile',
])

/** True for a write that touches what uploads touch: under contention they are all queued. */
export function meetsContention(name: WriteName): boolean {
  return CONTENDING.has(name)
}

/**
 * The queue of a write; undefined for one that waits for no other.
 *
 * @param isContended - whether writes of different principals undo each other at this time.
 */
export function queueNameOf<Name extends WriteName>(
  name: Name,
  input: WriteInput<Name>,
  isContended = false,
): string | undefined {
  if (isContended && meetsContention(name)) return CONTENTION
  const queueName: ((input: WriteInput<Name>) => string) | null = QUEUE_NAMES[name]
  return queueName?.(input)
}
