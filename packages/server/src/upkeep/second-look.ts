import { DAY_MS } from '@lade/core/time'
import type { Logger } from 'pino'
import type { BlobStore, OpenBlob } from '../blobs/blob-store.ts'
import type { RecordStore } from '../records/record-store.ts'
import { digestOfBody } from './digest-of-blob.ts'

/** A blob that is committed again at every look is being written to, and is not damaged. */
const MOST_LOOKS = 5

/**
 * What a second look has shown: right bytes (`transient`), wrong ones that were `quarantined` or `left` in place, or a blob that is
 * `unreadable`. `gone`: there is nothing under the digest, so nobody can get wrong bytes.
 */
export type SecondLook = 'transient' | 'quarantined' | 'left' | 'unreadable' | 'gone'

export interface SecondLookDeps {
  readonly blobs: BlobStore
  readonly records:
    | { readonly integrity: Pick<RecordStore['integrity'], 'clearDamaged' | 'setChunkDigests'> }
    | undefined
  readonly log: Logger
  readonly now: () => number
  /** Told of each blob that is wrong, before anything is done about it. */
  readonly onWrong: (sha256: string) => void
  readonly mostQuarantinesPerDay: number
  /** Notes damage in the records. */
  readonly remember: (sha256: string, kind: 'wrong' | 'missing') => void
}

/** Reads suspected blobs again, and quarantines those whose bytes are wrong. What it returns takes a digest and never rejects. */
export function secondLooks(deps: SecondLookDeps): (sha256: string) => Promise<SecondLook> {
  const { blobs, records, log, now, onWrong, mostQuarantinesPerDay, remember } = deps
  let quarantinedAt: readonly number[] = []

  async function look(sha256: string): Promise<SecondLook> {
    try {
      for (let times = 0; times < MOST_LOOKS; times += 1) {
        const blob = await blobs.open(sha256)
        if (blob === undefined) return 'gone'
        try {
          const seen = await judge(sha256, blob)
          if (seen !== 'replaced') return seen
        } finally {
          await blob.close()
        }
      }
      throw new Error('the blob differs at every read')
    } catch (error) {
      log.error({ sha256, err: error }, 'a suspected blob cannot be read or quarantined')
      return 'unreadable'
    }
  }

  async function judge(sha256: string, blob: OpenBlob): Promise<SecondLook | 'replaced'> {
    const { actual, sizeBytes, chunkDigests } = await digestOfBody(blob)
    if (actual === sha256) {
      // The reader may have met recorded digests that are wrong.
      if (chunkDigests !== undefined) await records?.integrity.setChunkDigests({ sha256, digests: chunkDigests })
      await records?.integrity.clearDamaged(sha256)
      log.warn({ sha256, sizeBytes }, 'a blob was wrong in one read and right in the next')
      return 'transient'
    }
    onWrong(sha256)
    quarantinedAt = quarantinedAt.filter((at) => at > now() - DAY_MS)
    if (quarantinedAt.length >= mostQuarantinesPerDay) {
      log.error(
        { sha256, actual, sizeBytes },
        'a blob has wrong bytes and was left in place: too many were quarantined today',
      )
      remember(sha256, 'wrong')
      return 'left'
    }
    if (!(await blob.quarantine())) return 'replaced'
    quarantinedAt = [...quarantinedAt, now()]
    log.error({ sha256, actual, sizeBytes }, 'a blob has wrong bytes and was quarantined')
    remember(sha256, 'missing')
    return 'quarantined'
  }

  return look
}
