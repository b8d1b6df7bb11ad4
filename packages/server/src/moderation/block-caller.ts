import { LadeError } from '@lade/core/errors'
import type { BlockCallerRequest, BlockedCallerEntry } from '@lade/core/wire'
import type { BlockedCallerKind, BlockedCallerRecord, RecordStore } from '../records/record-store.ts'
import { blockedValueOf, userValue, walletValue } from './blocked-callers.ts'
import type { Moderation } from './moderation.ts'
import { networkText, parseNetwork } from './networks.ts'

const USER = /^user:[0-9a-f]{16}$/
const WALLET = /^wallet:(?:\d+:)?(0x[0-9a-fA-F]{40})$/
const WALLET_ADDRESS = /^0x[0-9a-fA-F]{40}$/
/** Anonymous callers of IPv6 are told apart by their /64 alone. */
const SHARED_PREFIX = 64

export interface BlockCallerDeps {
  readonly records: Pick<RecordStore, 'blockedCallers'>
  readonly moderation: Pick<Moderation, 'refresh'>
  readonly now: () => number
  /** The id of the user of an email address. @throws {LadeError} `invalid_email`. */
  readonly userIdOf: (email: string) => string
}

/** Who is to be blocked, in one spelling. */
interface Subject {
  readonly kind: BlockedCallerKind
  readonly value: string
  readonly given: string
}

/**
 * Blocks a caller. It holds in this process when this resolves, and in every other within a second. Files that are to go are removed by
 * `removeFilesOfBlocked`.
 *
 * @param by - the principal of the operator, who cannot block itself.
 * @throws {LadeError} `bad_request`, `invalid_email`, `storage_failed`, `read_only`.
 */
export async function blockCaller(
  deps: BlockCallerDeps,
  { request, by }: { readonly request: BlockCallerRequest; readonly by: string },
): Promise<BlockedCallerRecord> {
  const subject = subjectOf(request, deps.userIdOf)
  if (subject.value === blockedValueOf(by)) throw wrong('You cannot block the user of your own token.')
  const { files } = request
  const prefix = Number(subject.value.split('/')[1])
  if (files === 'remove' && subject.kind === 'network' && subject.value.includes(':') && prefix > SHARED_PREFIX) {
    throw wrong(
      'IPv6 callers are counted per /64, so files of a smaller network cannot be removed. Block the /64, or send "files": "keep".',
    )
  }
  const caller = await deps.records.blockedCallers.block({
    ...subject,
    reason: request.reason.trim(),
    files,
    by,
    now: deps.now(),
  })
  await deps.moderation.refresh()
  return caller
}

/** Lets a caller in again. @throws {LadeError} `not_found`, `storage_failed`, `read_only`. */
export async function unblockCaller(
  deps: Pick<BlockCallerDeps, 'records' | 'moderation' | 'now'>,
  { id, by }: { readonly id: number; readonly by: string },
): Promise<BlockedCallerRecord> {
  const caller = await deps.records.blockedCallers.lift({ id, by, now: deps.now() })
  if (caller === undefined) {
    throw new LadeError('not_found', {
      reason: `No caller is blocked as number ${id}. GET /api/admin/blocked-callers lists them.`,
    })
  }
  await deps.moderation.refresh()
  return caller
}

export function blockedCallerEntryOf(caller: BlockedCallerRecord): BlockedCallerEntry {
  const { id, kind, value, given, reason, files, isRemoving, blockedAt, blockedBy } = caller
  const at = new Date(blockedAt).toISOString()
  return { id, kind, value, given, reason, files, removing: isRemoving, blockedAt: at, blockedBy }
}

function subjectOf(request: BlockCallerRequest, userIdOf: BlockCallerDeps['userIdOf']): Subject {
  const { principal, email, address, network } = request
  const [given, ...others] = [principal, email, address, network].filter((one) => one !== undefined)
  if (given === undefined || others.length > 0)
    throw wrong('Send exactly one of principal, email, address and network.')
  if (email !== undefined) return { kind: 'user', value: userValue(userIdOf(email)), given }
  if (principal !== undefined) return ofPrincipal(principal)
  if (address !== undefined && WALLET_ADDRESS.test(address))
    return { kind: 'wallet', value: walletValue(address), given }
  return ofNetwork(given, { isOneAddress: address !== undefined })
}

function ofPrincipal(principal: string): Subject {
  if (USER.test(principal)) return { kind: 'user', value: principal, given: principal }
  const wallet = WALLET.exec(principal)?.[1]
  if (wallet !== undefined) return { kind: 'wallet', value: walletValue(wallet), given: principal }
  if (principal.startsWith('ip:')) return { ...ofNetwork(principal.slice('ip:'.length), {}), given: principal }
  throw wrong('A principal is user:<16 hex digits>, wallet:<chain id>:<0x address>, or ip:<address>.')
}

function ofNetwork(text: string, { isOneAddress = false }: { readonly isOneAddress?: boolean }): Subject {
  const network = isOneAddress && text.includes('/') ? undefined : parseNetwork(text)
  if (network === undefined) {
    throw wrong(
      isOneAddress
        ? 'address must be an IP address, or the 0x address of a wallet.'
        : 'network must be in CIDR notation, such as 192.0.2.0/24, and not wider than a /8, or a /16 of IPv6.',
    )
  }
  return { kind: 'network', value: networkText(network), given: text }
}

function wrong(reason: string): LadeError<'bad_request'> {
  return new LadeError('bad_request', { reason })
}
