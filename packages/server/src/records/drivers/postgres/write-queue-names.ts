import { networkOf } from '../../../quota-rule/network-of.ts'
import type { WriteInput, WriteName } from '../../sql/writes.ts'

/** Writes of one queue change the same rows: they follow each other, on all machines, instead of undoing each other. */
type QueueNames = { readonly [Name in WriteName]: ((input: WriteInput<Name>) => string) | null }

/** Principals of one network share the counters of its day. */
const principalOf = ({ principal }: { principal: string }): string => `principal ${networkOf(principal) ?? principal}`
/** Each entry of the audit log follows the one before. */
const auditLog = (): string => 'audit log'
const upkeep = (): string => 'upkeep'
const placement = (): string => 'placement'
const chain = (): string => 'chain'

/** By write; null for those that rarely meet another one. */
const QUEUE_NAMES: QueueNames = {
  'quotas.reserve': principalOf,
  'quotas.grow': principalOf,
  'quotas.claim': null,
  'quotas.commit': ({ file }) => principalOf(file),
  'quotas.commitAtOnce': ({ admit }) => principalOf(admit),
  'quotas.commitTogether': ({ admit }) => principalOf(admit),
  // Made of uploads that are in a queue already.
  'quotas.commitEach': null,
  'quotas.release': null,
  'quotas.extendLeases': null,
  'quotas.releaseExpired': upkeep,
  'openUploads.create': ({ upload }) => principalOf(upload),
  'openUploads.take': null,
  'openUploads.advance': null,
  'openUploads.giveBack': null,
  'openUploads.end': null,
  'openUploads.expire': upkeep,
  'files.change': placement,
  'files.remove': principalOf,
  'files.expire': upkeep,
  'files.postpone': upkeep,
  'files.releaseEnded': upkeep,
  'files.revive': upkeep,
  'blocks.sweep': upkeep,
  'compositions.commit': ({ file }) => principalOf(file),
  'folders.setCounted': upkeep,
  'claims.take': ({ sponsored }) => `claim of ${sponsored}`,
  'tokens.signUp': auditLog,
  'tokens.revoke': auditLog,
  'tokens.revokeAny': auditLog,
  'tokens.revokeUser': auditLog,
  'tokens.record': auditLog,
  'tokens.forget': upkeep,
  'tokens.touch': () => 'touch tokens',
  'loginCodes.open': auditLog,
  'loginCodes.withdraw': auditLog,
  'loginCodes.answer': auditLog,
  'loginCodes.answerByEmail': auditLog,
  'loginCodes.expire': auditLog,
  'sessions.open': auditLog,
  'sessions.signOut': auditLog,
  'sessions.end': auditLog,
  'sessions.touch': () => 'touch sessions',
  'sessions.expire': upkeep,
  'placements.enrol': placement,
  'placements.carChecked': placement,
  'placements.addCar': placement,
  'placements.aggregate': placement,
  'placements.dissolve': placement,
  'placements.reconcile': placement,
  'placements.markAllUnreconciled': placement,
  'placements.parked': placement,
  'placements.parkAgain': placement,
  'placements.retryLater': placement,
  'placements.fail': placement,
  'placements.openAddition': placement,
  'placements.additionSent': placement,
  'placements.additionLater': placement,
  'placements.additionConfirmed': placement,
  'placements.additionRejected': placement,
  'placements.removed': placement,
  'placements.audited': placement,
  'placements.moveOldAudits': placement,
  'placements.want': placement,
  'offers.open': null,
  'offers.close': null,
  'offers.expire': upkeep,
  'leases.take': ({ name }) => `lease of ${name}`,
  'leases.giveBack': ({ name }) => `lease of ${name}`,
  'secrets.offer': () => 'secrets',
  'secrets.replace': () => 'secrets',
  'installation.offer': () => 'installation',
  'installation.pair': () => 'installation',
  'installation.raise': () => 'installation',
  'installation.replace': () => 'installation',
  'inventory.planOrphan': null,
  'inventory.letOrphansBe': upkeep,
  'inventory.keepAsOrphans': upkeep,
  'inventory.usePut': null,
  'inventory.forgetPuts': null,
  'inventory.setMark': null,
  'integrity.setChunkDigests': null,
  'integrity.setDamaged': null,
  'integrity.clearDamaged': null,
  'integrity.sealRows': upkeep,
  'chain.adopt': chain,
  'chain.queueDeals': chain,
  'chain.propose': chain,
  'chain.record': chain,
  'chain.addAttempt': chain,
  'chain.mined': chain,
  'chain.reorganised': chain,
  'chain.final': chain,
  'chain.superseded': chain,
  'escrow.apply': chain,
  'escrow.checked': chain,
  'nonces.use': null,
  'nonces.issue': null,
  'nonces.redeem': auditLog,
  'nonces.expire': upkeep,
  'takedowns.block': auditLog,
  'takedowns.lift': auditLog,
  'blockedCallers.block': auditLog,
  'blockedCallers.lift': auditLog,
  'blockedCallers.removed': null,
  'blockedCallers.endFiles': principalOf,
  'instances.register': upkeep,
  'instances.deregister': upkeep,
  'admin.noteStored': upkeep,
  'limits.set': auditLog,
  'erasure.signIns': auditLog,
  'erasure.endFiles': principalOf,
  'erasure.endedFiles': principalOf,
  'erasure.oldFiles': upkeep,
  'erasure.thinEnded': upkeep,
  'erasure.forgetObjects': upkeep,
  'erasure.oldAddresses': upkeep,
  'erasure.oldTokens': upkeep,
  'audit.append': auditLog,
  'audit.keyInUse': auditLog,
  'discards.begin': null,
  'discards.finish': null,
}

/**
 * The queue for contention. Its value is the name of a lock, which other versions take too. A write in it has the records to itself:
 * writes that {@link meetsContention} names wait for it in their queues.
 */
export const CONTENTION = 'crowd'

const CONTENDING: ReadonlySet<WriteName> = new Set<WriteName>([
  'quotas.reserve',
  'quotas.grow',
  'quotas.claim',
  'quotas.commit',
  'quotas.commitAtOnce',
  'quotas.commitTogether',
  'compositions.commit',
  'claims.take',
  'quotas.release',
  'openUploads.create',
  'openUploads.end',
  'openUploads.expire',
  'files.remove',
  'takedowns.block',
  'blockedCallers.endFiles',
  'erasure.endFiles',
  'erasure.endedFiles',
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
