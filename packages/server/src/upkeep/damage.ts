import { sha256Hex } from '@lade/node/hashing/sha256'
import type { Logger } from 'pino'
import type { BlobStore, ObjectFault } from '../blobs/blob-store.ts'
import type { DamageKind as RecordedKind, RecordStore } from '../records/record-store.ts'
import { type SecondLook, secondLooks } from './second-look.ts'

/** More damage than this in a day is likelier to be in the machine that reads than in the bytes. */
const MOST_QUARANTINES_PER_DAY = 100
/** How often the same fault is reported while readers go on meeting it, and of how many objects that is remembered. */
const REPORT_EVERY_MS = 3_600_000
const MOST_REPORTS = 10_000

/** What became of suspicions since the start of this process. */
export interface DamageCounters {
  /** Blobs that were read wrong once and right the next time: the memory, the cable or the disk is failing. */
  readonly transient: number
  /** Blobs of wrong bytes that were put away. */
  readonly quarantined: number
  /** Blobs of wrong bytes that were left where they are, because too many had been put away. */
  readonly left: number
  /** Suspected blobs that the medium did not let anybody read again. */
  readonly unreadable: number
  /** Blobs that the records promise and the store does not have, or has in another size. */
  readonly missing: number
  /** Files in the records whose bytes are wrong. */
  readonly inline: number
}

export type DamageKind = keyof DamageCounters

/** What damage control asks the records, and has them remember. */
export interface DamageRecords {
  readonly files: Pick<RecordStore['files'], 'inlineBytes'>
  readonly inventory: Pick<RecordStore['inventory'], 'stored'>
  readonly integrity: Pick<RecordStore['integrity'], 'setDamaged' | 'clearDamaged' | 'setChunkDigests'>
}

export interface DamageDeps {
  /** The store itself: what a wrapper remembers to be right is not to be believed here. */
  readonly blobs: BlobStore
  /** @default damage is only counted and logged */
  readonly records?: DamageRecords
  readonly log: Logger
  readonly now: () => number
  /** Told of each blob that was wrong at the second look too, before anything is done about it. */
  readonly onWrong?: (sha256: string) => void
  /** How many blobs this process puts away in 24 hours. @default 100 */
  readonly mostQuarantinesPerDay?: number
}

/** A blob that is not there as the records have it. */
export interface MissingBlob {
  readonly sha256: string
  readonly recordedBytes: number
  /** Undefined when there is none. */
  readonly storedBytes: number | undefined
}

/** Where damaged and missing blobs are reported. */
export interface DamageControl {
  /**
   * Reads a blob again that somebody got wrong bytes of: wrong bytes go to quarantine, right ones are noted and left alone. Never
   * rejects. Whoever suspects a blob that is suspected already is answered along; several blobs are looked at one after the other.
   */
  suspect(sha256: string): Promise<SecondLook>
  /** Notes a blob that a record promises and that is not there as promised. */
  reportMissing(blob: MissingBlob): void
  /** Notes a file in the records whose bytes are wrong. */
  reportInline(sha256: string): void
  /**
   * Looks again at what a reader found, and reports it when it is so: a reader may have met a file that was just removed. One fault that
   * many readers meet is reported once an hour. Nobody waits for it.
   */
  onFault(fault: ObjectFault): void
  counters(): DamageCounters
  /** Resolves when no look is under way. */
  settled(): Promise<void>
}

/**
 * Decides what is done about bytes that do not hash to their digest.
 *
 * A blob in quarantine is missing to everybody: its readers get `storage_failed`, and the next upload of the same bytes, whoever makes
 * it, serves all of its files again. A blob that is committed anew while it is looked at is looked at again, and not put away.
 */
export function createDamageControl(deps: DamageDeps): DamageControl {
  const { blobs, records, log, now, onWrong = () => {}, mostQuarantinesPerDay = MOST_QUARANTINES_PER_DAY } = deps
  const counts: Record<DamageKind, number> = {
    transient: 0,
    quarantined: 0,
    left: 0,
    unreadable: 0,
    missing: 0,
    inline: 0,
  }
  const reportedAt = new Map<string, number>()
  const looks = new Map<string, Promise<SecondLook>>()
  const look = secondLooks({ blobs, records, log, now, onWrong, mostQuarantinesPerDay, remember })
  let lastLook: Promise<unknown> = Promise.resolve()

  /** So that other processes know, and this one after a restart. */
  function remember(object: string, kind: RecordedKind): void {
    records?.integrity.setDamaged({ object, kind, now: now() }).catch((error: unknown) => {
      log.error({ sha256: object, err: error }, 'damage cannot be recorded')
    })
  }

  function reportMissing({ sha256, recordedBytes, storedBytes }: MissingBlob): void {
    counts.missing += 1
    log.error({ sha256, recordedBytes, storedBytes }, 'a recorded blob is missing')
    remember(sha256, 'missing')
  }

  function reportInline(sha256: string): void {
    counts.inline += 1
    log.error({ sha256 }, 'a file in the records has wrong bytes: upload it again to repair it')
    remember(sha256, 'inline')
  }

  async function lookAtFault({ kind, sha256 }: ObjectFault): Promise<void> {
    if (records === undefined) return
    if (kind === 'inline') {
      const bytes = await records.files.inlineBytes(sha256)
      if (bytes !== undefined && sha256Hex(bytes) !== sha256) reportInline(sha256)
      return
    }
    // Both come and go, so the store is asked before and after the records.
    const before = await blobs.stat(sha256)
    const recordedBytes = await recordedSizeOf(records, sha256)
    const storedBytes = (await blobs.stat(sha256))?.sizeBytes
    if (recordedBytes === undefined || before?.sizeBytes === recordedBytes || storedBytes === recordedBytes) return
    reportMissing({ sha256, recordedBytes, storedBytes })
  }

  /** True for the first report of a fault in a while. */
  function isNews({ kind, sha256 }: ObjectFault): boolean {
    const name = `${kind} ${sha256}`
    const last = reportedAt.get(name)
    if (last !== undefined && now() - last < REPORT_EVERY_MS) return false
    reportedAt.delete(name)
    reportedAt.set(name, now())
    const [oldest] = reportedAt.keys()
    if (reportedAt.size > MOST_REPORTS && oldest !== undefined) reportedAt.delete(oldest)
    return true
  }

  function suspect(sha256: string): Promise<SecondLook> {
    const underWay = looks.get(sha256)
    if (underWay !== undefined) return underWay
    // One at a time: a medium that is failing gets no more to do.
    const looking = lastLook
      .then(() => look(sha256))
      .then((seen) => {
        looks.delete(sha256)
        if (seen !== 'gone') counts[seen] += 1
        return seen
      })
    looks.set(sha256, looking)
    lastLook = looking
    return looking
  }

  return {
    suspect,
    onFault(fault) {
      if (!isNews(fault)) return
      if (fault.kind === 'wrong') {
        void suspect(fault.sha256)
        return
      }
      lastLook = lastLook
        .then(() => lookAtFault(fault))
        .catch((error: unknown) =>
          log.error({ ...fault, err: error }, 'damage that a download found cannot be examined'),
        )
    },
    reportMissing,
    reportInline,
    counters: () => ({ ...counts }),
    async settled() {
      await lastLook
    },
  }
}

/** The size of a blob that an object needs. */
async function recordedSizeOf({ inventory }: DamageRecords, sha256: string): Promise<number | undefined> {
  // No list can begin at a digest, only behind a text; the last digit leaves 16 of them.
  const near = await inventory.stored({ after: sha256.slice(0, -1), limit: 16 })
  return near.find((each) => each.sha256 === sha256)?.sizeBytes
}
