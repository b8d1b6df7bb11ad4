import type { BlockedCallerRecord, RecordStore } from '../records/record-store.ts'
import { blockedValueOf } from './blocked-callers.ts'
import { NetworkMap, parseNetwork } from './networks.ts'

/** Files that one transaction ends, for which uploads wait. */
const FILES_AT_ONCE = 100
const PRINCIPALS_AT_ONCE = 100
/** Uploads that were under way elsewhere when the caller was blocked have ended or been refused after this. */
const SETTLED_MS = 5000
const SHARED_PREFIX = 64

export interface RemoveFilesDeps {
  readonly records: Pick<RecordStore, 'blockedCallers'>
  readonly now: () => number
  /** True when no more files are to be ended; asked where there are some. @default never */
  readonly isOver?: () => boolean
}

/**
 * Ends the files of blocked callers whose files are to go. Their bytes become discards. Safe to stop anywhere, and beside other processes.
 *
 * @returns how many files were ended.
 * @throws {LadeError} `storage_failed`, `read_only`.
 */
export async function removeFilesOfBlocked(deps: RemoveFilesDeps): Promise<number> {
  const { records, now, isOver = () => false } = deps
  const { blockedCallers } = records
  let ended = 0
  for (const caller of await blockedCallers.removing()) {
    let found = 0
    for await (const principal of principalsOf(records, caller)) {
      for (;;) {
        const count = await blockedCallers.endFiles({ principal, now: now(), limit: FILES_AT_ONCE })
        found += count
        if (count < FILES_AT_ONCE) break
        if (isOver()) return ended + found
      }
    }
    ended += found
    if (found === 0 && caller.blockedAt + SETTLED_MS <= now()) await blockedCallers.removed(caller.id)
  }
  return ended
}

async function* principalsOf(
  { blockedCallers }: RemoveFilesDeps['records'],
  { kind, value }: BlockedCallerRecord,
): AsyncGenerator<string> {
  if (kind === 'user') {
    yield value
    return
  }
  const isOf = kind === 'wallet' ? (principal: string) => blockedValueOf(principal) === value : networkTest(value)
  const prefix = kind === 'wallet' ? 'wallet:' : 'ip:'
  let after = ''
  for (;;) {
    const page = await blockedCallers.principals({ prefix, after, limit: PRINCIPALS_AT_ONCE })
    for (const principal of page) if (isOf(principal)) yield principal
    const last = page.at(-1)
    if (last === undefined || page.length < PRINCIPALS_AT_ONCE) return
    after = last
  }
}

function networkTest(value: string): (principal: string) => boolean {
  const networks = new NetworkMap<true>()
  const network = parseNetwork(value)
  if (network !== undefined) networks.set(network, true)
  return (principal) => {
    const [address = '', prefix] = principal.slice('ip:'.length).split('/')
    return networks.find(address, prefix === undefined ? undefined : SHARED_PREFIX) === true
  }
}
