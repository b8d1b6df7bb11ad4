import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS } from '@lade/core/time'
import type { Logger } from 'pino'
import type { BlobStore } from '../blobs/blob-store.ts'
import { createLeaseholder, type LeasableRecords, type LeaseTerms } from '../records/leaseholder.ts'
import type { IntegrityRecords, InventoryRecords, SealPlace } from '../records/record-store.ts'
import { ByteRateLimit } from './byte-rate-limit.ts'
import type { DamageControl } from './damage.ts'
import { createOrphanPolicy, isOrphanRemovalStopped } from './orphans.ts'
import { recordMissingChunks } from './record-chunks.ts'
import { scrubInline } from './scrub-inline.ts'
import {
  dueBefore,
  isWholeWalkDue,
  newScrubMark,
  readScrubMark,
  SCRUB_MARK,
  type ScrubCounters,
  type ScrubMark,
  writeScrubMark,
} from './scrub-mark.ts'
import { scrubWalk } from './scrub-walk.ts'

const LEASE: LeaseTerms = { name: 'scrub', lastsMs: 60_000 }
const ORPHAN_DAYS = 30
const ROUND_EVERY_MS = 60_000
/** How much of the walk is done twice when the process ends without notice. */
const SAVE_EVERY_MS = 15_000
/** How long a round reads blobs of an older version, before what is due in the walk has its turn again. */
const OLD_BLOBS_MS = 300_000
/** Rows that one transaction seals, for which uploads wait. */
const ROWS_SEALED_TOGETHER = 500
const FIRST_ROWS: SealPlace = { alias: '', name: '', whole: 0 }
const MOST_BYTES_PER_SECOND = 64 * 1024 * 1024
/** A walk that takes this much longer than it should is worth a warning. */
const LATE_FACTOR = 1.25

/** What a scrub needs of a `RecordStore`. */
export type ScrubRecords = LeasableRecords<{
  readonly inventory: InventoryRecords
  readonly integrity: IntegrityRecords
}>

export interface ScrubDeps {
  readonly records: ScrubRecords
  /** The store itself: a wrapper that remembers what was right would read, and not look. */
  readonly blobs: BlobStore
  readonly damage: DamageControl
  /** Tells this process from others that share the records. */
  readonly instanceId: string
  /** In how many days the whole store is read once; 0 for never. */
  readonly days: number
  /** For how many days blobs that the records do not know are kept; 0 for good. @default 30 */
  readonly orphanDays?: number
  readonly now: () => number
  readonly log: Logger
  /** @default 67_108_864 */
  readonly mostBytesPerSecond?: number
}

/** Reads all stored bytes again, slowly. Of several processes, the one with the lease does it. */
export interface Scrub {
  /** Does what is due by now, if this process has the lease: answers whether it has. For those who do not `start`. */
  round(): Promise<boolean>
  /** Repeats rounds until `stop`. */
  start(): void
  /** Ends what is under way, keeps the place, and resolves soon. */
  stop(): Promise<void>
  /** Bytes that this process has read since its start. */
  scrubbedBytes(): number
  /** When any process last came to the end of the store, in epoch milliseconds; undefined when none ever has. */
  lastFinishedAt(): Promise<number | undefined>
  /** Blobs that the records do not know and that wait for their removal, and whether there are too many to remove any. */
  orphans(): Promise<{ readonly waiting: number; readonly isStopped: boolean }>
}

class LeaseLost extends Error {}

/**
 * Reads the whole store once in `days`, in the order of digests, and compares each blob with its digest and with the records: wrong bytes go
 * to `damage`, as do blobs that records miss, and blobs that nobody needs are planned for removal,
 * some days later, unless there are many.
 *
 * The work is spread evenly over the time: a digest's turn comes when as much of the period has passed as of all digests lies before it.
 * Whatever is late, after a stop or in a store that is big for its medium, is made up for, never faster than `mostBytesPerSecond`.
 * Files that are kept in the records are read along with the blobs. Blobs that an older version stored are read once at the beginning, so that
 * the digests of their chunks are recorded.
 *
 * Of all processes that share the records one does this; the place is kept in the records, so that any of them goes on.
 *
 * @example
 * const scrub = createScrub({ records, blobs, damage, instanceId, days: 30, now: Date.now, log })
 * scrub.start()
 */
export function createScrub(deps: ScrubDeps): Scrub {
  const { records, blobs, damage, instanceId, now, log } = deps
  const periodMs = deps.days * DAY_MS
  const limit = new ByteRateLimit(deps.mostBytesPerSecond ?? MOST_BYTES_PER_SECOND)
  const stopping = new AbortController()
  const { signal } = stopping
  const leaseholder = createLeaseholder({ records, ...LEASE, holder: instanceId, now })
  const { inventory, integrity } = leaseholder.records
  const orphans = createOrphanPolicy({ inventory, days: deps.orphanDays ?? ORPHAN_DAYS, now, log })
  /** Where blobs of an older version are read on from; undefined when all were read. */
  let oldBlobsFrom: number | undefined = 0
  let scrubbedBytes = 0
  let looping: Promise<void> = Promise.resolve()

  async function readMark(): Promise<ScrubMark | undefined> {
    return readScrubMark(await inventory.mark(SCRUB_MARK))
  }

  async function save(mark: ScrubMark): Promise<void> {
    await inventory.setMark({ name: SCRUB_MARK, value: writeScrubMark(mark) })
  }

  async function round(): Promise<boolean> {
    if (deps.days === 0 || !(await leaseholder.hold())) return false
    const begunAt = now()
    const kept = await readMark()
    // A walk that begins later began under a clock that was ahead.
    let mark = kept === undefined || kept.startedAt > begunAt ? newScrubMark(begunAt, kept?.finishedAt) : kept
    const isLast = isWholeWalkDue(mark, periodMs, begunAt)
    const before = dueBefore(mark, periodMs, begunAt)
    let savedAt = begunAt
    await orphans.load()
    const onBytes = async (sizeBytes: number): Promise<void> => {
      scrubbedBytes += sizeBytes
      await limit.passed(sizeBytes, signal)
      await goOn()
    }
    try {
      const window = { after: mark.after, before }
      mark = { ...mark, tally: sumOf(mark.tally, await scrubInline({ integrity, damage, onBytes }, window)) }
      await scrubWalk(
        {
          inventory,
          integrity,
          blobs,
          damage,
          orphans,
          onBytes,
          async onDone(sha256, met) {
            mark = { ...mark, after: sha256, tally: sumOf(mark.tally, met) }
            await goOn()
            if (met.orphans !== undefined) await orphans.judge(mark.tally)
            if (now() < savedAt + SAVE_EVERY_MS) return
            savedAt = now()
            await save(mark)
          },
        },
        window,
      )
    } catch (error) {
      // What was done is kept; that it cannot be kept is no news when the records do not answer or another process goes on.
      await save(mark).catch(() => {})
      if (error instanceof LeaseLost) return false
      throw error
    }
    await save(isLast ? finished(mark) : { ...mark, after: mark.after > before ? mark.after : before })
    return readOldBlobs(onBytes)
  }

  async function sealOldRows(): Promise<void> {
    for (let place: SealPlace | undefined = FIRST_ROWS; place !== undefined; await goOn()) {
      place = await integrity.sealRows({ after: place, limit: ROWS_SEALED_TOGETHER })
    }
  }

  /** Answers whether this process still has the lease. */
  async function readOldBlobs(onBytes: (sizeBytes: number) => Promise<void>): Promise<boolean> {
    if (oldBlobsFrom === undefined) return true
    const until = now() + OLD_BLOBS_MS
    try {
      await sealOldRows()
      oldBlobsFrom = await recordMissingChunks(
        { integrity, blobs, damage, onBytes },
        oldBlobsFrom,
        () => now() >= until,
      )
      return true
    } catch (error) {
      if (error instanceof LeaseLost) return false
      throw error
    }
  }

  /** Between two steps: the process may be about to stop, and the lease must not run out unnoticed. */
  async function goOn(): Promise<void> {
    signal.throwIfAborted()
    if (!(await leaseholder.hold())) throw new LeaseLost('another process took over scrubbing')
  }

  function finished({ startedAt, tally }: ScrubMark): ScrubMark {
    const finishedAt = now()
    const tookDays = Number(((finishedAt - startedAt) / DAY_MS).toFixed(2))
    log.info({ ...tally, tookDays }, 'the whole store was scrubbed')
    if (tookDays > deps.days * LATE_FACTOR) {
      log.warn({ tookDays, days: deps.days }, 'scrubbing takes longer than LADE_SCRUB_DAYS')
    }
    return newScrubMark(finishedAt, finishedAt)
  }

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      await round().catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error }, 'a round of scrubbing failed')
      })
      // The wait ends early by `stop` alone.
      await sleep(ROUND_EVERY_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  return {
    round,
    start() {
      if (deps.days > 0) looping = loop()
    },
    async stop() {
      if (!signal.aborted) stopping.abort(new Error('scrubbing ends'))
      await looping
      await leaseholder.giveBack()
    },
    scrubbedBytes: () => scrubbedBytes,
    lastFinishedAt: async () => (await readMark())?.finishedAt,
    orphans: async () => ({
      waiting: await inventory.orphans(),
      isStopped: await isOrphanRemovalStopped(inventory),
    }),
  }
}

function sumOf(tally: ScrubCounters, met: Partial<ScrubCounters>): ScrubCounters {
  const { blobs = 0, bytes = 0, wrong = 0, missing = 0, orphans = 0 } = met
  return {
    blobs: tally.blobs + blobs,
    bytes: tally.bytes + bytes,
    wrong: tally.wrong + wrong,
    missing: tally.missing + missing,
    orphans: tally.orphans + orphans,
  }
}
