import type { Config } from '../config/config.ts'
import type { DamagedObject } from '../records/record-store.ts'
import { scrubInline } from '../upkeep/scrub-inline.ts'
import { hasCurrentRecords, withRecords } from './adopt-installation.ts'

/** Damaged files that are named; there may be more. */
const MOST_NAMED = 20

/** What is known of the bytes of an installation. */
export interface StoredBytesLook {
  /** Known to be damaged, oldest first; those that were found just now come last. */
  readonly damaged: readonly Pick<DamagedObject, 'object' | 'kind'>[]
  readonly damagedCount: number
  /** Bytes of small files, in the records, that were compared with their digests. */
  readonly checkedBytes: number
  /** False when there was no time for all of them. */
  readonly isComplete: boolean
  readonly withoutChunksCount: number
}

class OutOfTime extends Error {}

/**
 * Compares small files in the records with their digests, for as long as there is time, and says what else is known to be damaged. Changes
 * nothing. The service may run.
 *
 * @returns undefined where there are no records of this version.
 * @throws {StartError} when the records cannot be opened.
 * @throws {LadeError} `storage_failed`.
 */
export async function lookAtStoredBytes(
  config: Config,
  { withinMs }: { readonly withinMs: number },
): Promise<StoredBytesLook | undefined> {
  if (!(await hasCurrentRecords(config))) return undefined
  return withRecords(config, async ({ integrity }) => {
    const known = await integrity.damaged({ limit: MOST_NAMED })
    const names = new Set(known.map(({ object }) => object))
    const found: Pick<DamagedObject, 'object' | 'kind'>[] = []
    const until = performance.now() + withinMs
    let checkedBytes = 0
    let isComplete = true
    try {
      await scrubInline(
        {
          integrity: { ...integrity, damageOf: async () => undefined },
          damage: { reportInline: (object) => void (names.has(object) || found.push({ object, kind: 'inline' })) },
          async onBytes(sizeBytes) {
            checkedBytes += sizeBytes
            if (performance.now() > until) throw new OutOfTime('the check of stored bytes ran out of time')
          },
        },
        { after: '', before: 'g' },
      )
    } catch (error) {
      if (!(error instanceof OutOfTime)) throw error
      isComplete = false
    }
    return {
      damaged: [...known, ...found.slice(0, MOST_NAMED)],
      damagedCount: (await integrity.damagedCount()) + found.length,
      checkedBytes,
      isComplete,
      withoutChunksCount: await integrity.withoutChunksCount(),
    }
  })
}
