import type { Connection } from './connection.ts'
import type { DiskState } from './disk-probe.ts'
import { MAY_USE_RESERVE } from './reserve-writes.ts'
import type { RoomReserve } from './room-reserve.ts'
import { failureOf, type WriteCall, type WriteFailure, type WriteReply } from './writer-protocol.ts'

export interface ReserveCommitterDeps {
  readonly connection: Connection
  readonly commit: (calls: readonly WriteCall[]) => WriteReply[]
  readonly reserve: Pick<RoomReserve, 'giveUp'>
  readonly probe: () => DiskState
}

/**
 * Commits as `commit` does, and on a full disk makes room for the writes that may use the reserve, which are then made after all.
 *
 * Failures say what the disk is: `SQLITE_FULL` when it is full, also where SQLite could not make a file or let one grow, and
 * `SQLITE_READONLY` when it takes no writes.
 */
export function reserveCommitter(deps: ReserveCommitterDeps): (calls: readonly WriteCall[]) => WriteReply[] {
  const { connection, commit, reserve, probe } = deps

  /** From its beginning the log is written where it has its blocks already. */
  function makeRoom(): void {
    reserve.giveUp()
    try {
      connection.pragma('wal_checkpoint(RESTART)')
    } catch (error) {
      // What the checkpoint has no room for stays in the log, which the reserve now lets grow.
      if (failureOf(error).code !== 'SQLITE_FULL') throw error
    }
  }

  return (calls) => {
    const probeOnce = once(probe)
    const replies = commit(calls).map((reply) => diagnosed(reply, probeOnce))
    const isRefused = (index: number): boolean => {
      const reply = replies[index]
      return reply !== undefined && 'failure' in reply && reply.failure.code === 'SQLITE_FULL'
    }
    const again = [...calls.keys()].filter(
      (index) => isRefused(index) && MAY_USE_RESERVE.has(callAt(calls, index).name),
    )
    if (again.length === 0) return replies
    makeRoom()
    const repeated = commit(again.map((index) => callAt(calls, index)))
    for (const [turn, index] of again.entries()) replies[index] = diagnosed(repeated[turn] as WriteReply, once(probe))
    return replies
  }
}

/** Failures of which the state of the disk can be the cause. None of them is an fsync, after which nobody knows what the disk has. */
const BY_THE_DISK =
  /^SQLITE_(READONLY$|READONLY_(DIRECTORY|CANTINIT|ROLLBACK|RECOVERY)|CANTOPEN|IOERR_(WRITE|TRUNCATE|SHMSIZE|SHMOPEN))/

/** What a failure says about the disk, where it says something. */
export function diagnosedFailure(failure: WriteFailure, probe: () => DiskState): WriteFailure {
  if (!BY_THE_DISK.test(failure.code)) return failure
  const message = `${failure.code}: ${failure.message}`
  switch (probe()) {
    case 'full':
      return { code: 'SQLITE_FULL', message }
    case 'read_only':
      return { code: 'SQLITE_READONLY', message }
    default:
      return failure
  }
}

function diagnosed(reply: WriteReply, probe: () => DiskState): WriteReply {
  return 'failure' in reply ? { failure: diagnosedFailure(reply.failure, probe) } : reply
}

/** A probe for many failures of one commit. */
function once(probe: () => DiskState): () => DiskState {
  let found: DiskState | undefined
  return () => {
    found ??= probe()
    return found
  }
}

function callAt(calls: readonly WriteCall[], index: number): WriteCall {
  return calls[index] as WriteCall
}
