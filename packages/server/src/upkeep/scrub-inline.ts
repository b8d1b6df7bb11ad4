import { setImmediate as nextTurn } from 'node:timers/promises'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { InlineObject, IntegrityRecords } from '../records/record-store.ts'
import type { DamageControl } from './damage.ts'
import type { ScrubCounters } from './scrub-mark.ts'

/** Objects that are looked at at a time. */
const PAGE = 64

export interface ScrubInlineDeps {
  readonly integrity: Pick<IntegrityRecords, 'inlineObjects' | 'damageOf' | 'clearDamaged'>
  readonly damage: Pick<DamageControl, 'reportInline'>
  /** Called after so many bytes were read, perhaps none; what it waits for holds the walk up, and what it throws ends it. */
  readonly onBytes: (sizeBytes: number) => Promise<void>
}

/**
 * Compares the files whose bytes are in the records with their digests, from the first digest greater than `after` to the last one less
 * than `before`. Answers what was met.
 */
export async function scrubInline(
  { integrity, damage, onBytes }: ScrubInlineDeps,
  { after, before }: { readonly after: string; readonly before: string },
): Promise<Pick<ScrubCounters, 'bytes' | 'wrong'>> {
  let bytes = 0
  let wrong = 0
  for (let place: string | undefined = after; place !== undefined; ) {
    const page = await integrity.inlineObjects({ after: place, before, limit: PAGE })
    for (const object of page.objects) {
      if (!isRight(object)) {
        wrong += 1
        damage.reportInline(object.sha256)
      } else if ((await integrity.damageOf(object.sha256)) !== undefined) {
        await integrity.clearDamaged(object.sha256)
      }
      bytes += object.bytes.length
      await onBytes(object.bytes.length)
    }
    // Most objects may have their bytes elsewhere.
    if (page.objects.length === 0) await onBytes(0)
    await nextTurn()
    place = page.last
  }
  return { bytes, wrong }
}

function isRight({ sha256, sizeBytes, bytes }: InlineObject): boolean {
  return bytes.length === sizeBytes && sha256Hex(bytes) === sha256
}
