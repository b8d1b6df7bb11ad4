import type { Logger } from 'pino'
import { type Repetition, repeat } from '../clock/repeat.ts'
import { removeFilesOfBlocked } from '../moderation/remove-files-of-blocked.ts'
import { holderOf } from '../open-uploads/open-uploads.ts'
import { LEASE_MS } from '../uploads/admit-upload.ts'
import { discardObjects } from '../uploads/discard-objects.ts'
import type { Reservations } from '../uploads/reservations.ts'
import { oldRecordEraser } from './erase-old-records.ts'
import { type RecoverDeps, recover } from './recover.ts'

/** After this time a step leaves the rest to the next round: leases are extended between two rounds, and the port is opened after the first one. */
const STEP_MS = 1000
/**
 * A lease is extended when it ends within this time: at most once in 15 seconds, which is longer than a write is tried. An extension undoes a
 * commit of the same reservation that is under way, and the commit of a large folder takes longer than it is from one round to the next.
 */
const EXTENDED_WITHIN_MS = LEASE_MS - 15_000
const EXPIRE_BATCH = 500
/** Rows that are removed in one transaction, for which uploads wait. */
const SWEEP_BATCH = 2000

export interface UpkeepDeps extends RecoverDeps {
  readonly log: Logger
  readonly reservations: Reservations
  /** As `DiscardDeps.removing`. */
  readonly removing: Set<string>
  /** How long the bytes of a file stay after its term. */
  readonly graceMs: number
  /** How long after its end what is known of people is kept; 0 for ever. */
  readonly tombstoneMs: number
  /** Writes what is kept in memory for a while, such as the times of use of tokens. */
  readonly flush: () => Promise<void>
  /** Says what the operator should hear now and then, such as that the signing key is old. */
  readonly remind: () => void
}

/** Regular work on records and stored bytes that no request waits for. */
export interface Upkeep {
  /**
   * One round: recover, revive, expire, remove files of blocked callers, release, discard, sweep, end uploads that expired, erase what is old, move audits of an older version, flush, remind. What `start` repeats. A step that fails is logged.
   *
   * @returns true when a step left something to the next round, which should follow at once.
   */
  round(): Promise<boolean>
  /** Repeats rounds, and keeps this instance's reservations alive, until `stop`. */
  start(intervalMs?: number): void
  /** Resolves when no round is under way and none will come. */
  stop(): Promise<void>
}

/**
 * What has to be done again and again: leases kept alive, dead processes cleaned up after, files past their term ended,
 * unneeded bytes removed. Every step is safe beside other processes, and a step that failed is tried in the next round.
 */
export function createUpkeep(deps: UpkeepDeps): Upkeep {
  const { records, blobs, instanceId, now, log, reservations, removing } = deps
  const eraseOld = oldRecordEraser(deps)
  let repetition: Repetition | undefined
  let isStopped = false
  let isMoreLeft = false

  async function round(): Promise<boolean> {
    isMoreLeft = false
    let hasFailed = false
    // The driver says when this begins and ends, and nothing here could be done.
    if (records.disk !== undefined && records.disk.state() !== 'writable') {
      deps.remind()
      return false
    }
    const lease = { endingBefore: now() + EXTENDED_WITHIN_MS, leaseUntil: now() + LEASE_MS }
    await records.quotas.extendLeases({ instanceId, ...lease })
    for (const step of [
      register,
      release,
      cleanUp,
      revive,
      expire,
      removeFiles,
      releaseEnded,
      discard,
      sweepBlocks,
      endUploads,
      forgetLoginCodes,
      forgetNonces,
      forgetTokens,
      forgetSessions,
      eraseOld,
      moveOldAudits,
      deps.flush,
    ]) {
      if (isStopped) return false
      // A step that fails, perhaps for days, keeps neither the others from their work nor the service from starting.
      await step().catch((error: unknown) => {
        hasFailed = true
        log.error({ err: error }, 'a step of upkeep failed')
      })
    }
    deps.remind()
    // What fails is tried again later.
    return isMoreLeft && !hasFailed
  }

  /** Makes the question that a step asks where it has more to do: true when it leaves that to the next round. */
  function stepTime(): () => boolean {
    const endsAt = performance.now() + STEP_MS
    return () => {
      const isOver = performance.now() >= endsAt
      isMoreLeft ||= isOver
      return isOver
    }
  }

  async function takeBatches(limit: number, take: (limit: number) => Promise<number>): Promise<void> {
    const isOver = stepTime()
    while ((await take(limit)) === limit && !isOver());
  }

  /** While its lock was away, another instance may have taken this one for dead and forgotten it. */
  async function register(): Promise<void> {
    const known = await records.instances.list()
    if (!known.includes(instanceId)) await records.instances.register({ instanceId, now: now() })
  }

  async function release(): Promise<void> {
    await reservations.releaseOwed(now())
  }

  async function cleanUp(): Promise<void> {
    const recovered = await recover(deps)
    if (recovered.deadInstances > 0 || recovered.reservations > 0 || recovered.pendingBlobs > 0) {
      log.info(recovered, 'cleaned up after processes that ended')
    }
  }

  async function expire(): Promise<void> {
    await takeBatches(EXPIRE_BATCH, (limit) => records.files.expire({ now: now(), limit, keepMs: deps.graceMs }))
  }

  /** Before anything is let go of: a clock that was ahead may have ended what is not over. */
  async function revive(): Promise<void> {
    const revived = await records.files.revive({ now: now(), limit: EXPIRE_BATCH, keepMs: deps.graceMs })
    if (revived > 0) log.warn({ files: revived }, 'files that expired under a wrong clock are back')
  }

  async function removeFiles(): Promise<void> {
    const files = await removeFilesOfBlocked({ records, now, isOver: stepTime() })
    if (files > 0) log.warn({ files }, 'files of blocked callers were removed')
  }

  async function releaseEnded(): Promise<void> {
    await takeBatches(EXPIRE_BATCH, (limit) => records.files.releaseEnded({ now: now(), limit }))
  }

  async function sweepBlocks(): Promise<void> {
    await takeBatches(SWEEP_BATCH, (limit) => records.blocks.sweep({ limit }))
  }

  /** Their bytes are removed by the recovery of the next round at the latest. */
  async function endUploads(): Promise<void> {
    await takeBatches(EXPIRE_BATCH, async (limit) => {
      const ended = await records.openUploads.expire({ now: now(), limit })
      for (const id of ended) await blobs?.sweepPending(holderOf(id))
      return ended.length
    })
  }

  async function forgetLoginCodes(): Promise<void> {
    await records.loginCodes.expire({ now: now() })
  }

  async function forgetNonces(): Promise<void> {
    await takeBatches(SWEEP_BATCH, (limit) => records.nonces.expire({ now: now(), limit }))
  }

  /** Those of wallets, which are good for minutes and come with every sign-in. */
  async function forgetTokens(): Promise<void> {
    await takeBatches(SWEEP_BATCH, (limit) => records.tokens.forget({ now: now(), limit }))
  }

  async function forgetSessions(): Promise<void> {
    await takeBatches(SWEEP_BATCH, (limit) => records.sessions.expire({ now: now(), limit }))
  }

  /** A little of it in each round, since it is never urgent. */
  async function moveOldAudits(): Promise<void> {
    await records.placements.moveOldAudits({ limit: SWEEP_BATCH })
  }

  async function discard(): Promise<void> {
    if (blobs !== undefined) await discardObjects({ records, blobs, instanceId, now, removing, isOver: stepTime() })
  }

  return {
    round,
    start(intervalMs = 5000) {
      const rounds = async (): Promise<void> => {
        while (await round());
      }
      repetition = repeat(
        () => rounds().catch((error: unknown) => log.error({ err: error }, 'upkeep failed')),
        intervalMs,
      )
    },
    async stop() {
      isStopped = true
      await repetition?.stop()
    },
  }
}
