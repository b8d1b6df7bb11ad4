import { LadeError } from '@lade/core/errors'
import type { OpenUploadRecord } from '../records/record-store.ts'
import { type Admission, fileLimitOf, tooLarge } from '../uploads/admit-upload.ts'
import { aheadOf, type OpenBodyDeps, reserveGrowth } from '../uploads/open-body.ts'
import type { AppendInput } from './append-request.ts'
import { headOf, intentFrom } from './upload-intent.ts'

/** How many bytes an upload will have, as far as that is known, and how many it may have. */
export interface AgreedSize {
  /** Undefined while nobody has said it. */
  readonly sizeBytes: number | undefined
  /** Called as bytes come of a body of unknown length: how many it may bring in all. Undefined where that is known. */
  readonly allow: ((receivedBytes: number) => Promise<number>) | undefined
}

/**
 * Holds what a request says of the size of an upload against what is known of it, and reserves what an upload of unknown size needs.
 *
 * @throws {LadeError} `bad_request` for a size that changes, `too_large`, `rate_limited`, `quota_exceeded`, `lease_lost`.
 */
export async function agreeSize(
  deps: OpenBodyDeps,
  input: Pick<AppendInput, 'offset' | 'bodyBytes' | 'sizeBytes' | 'isLast' | 'tier'>,
  upload: OpenUploadRecord,
): Promise<AgreedSize> {
  const { offset, bodyBytes, isLast = false, tier } = input
  const endsAt = isLast && bodyBytes !== undefined ? offset + bodyBytes : undefined
  const said = input.sizeBytes ?? endsAt
  const known = upload.sizeBytes
  for (const other of [said, endsAt]) {
    const first = known ?? said
    if (other !== undefined && first !== undefined && other !== first) {
      throw new LadeError('bad_request', {
        reason: `The upload has ${first} bytes in all; this request says ${other}. The size of an upload cannot change.`,
      })
    }
  }
  const sizeBytes = known ?? said
  const head = headOf(intentFrom(upload.head), { id: upload.id, sizeBytes })
  const least = offset + (bodyBytes ?? 0)
  if (sizeBytes !== undefined && least > sizeBytes) {
    const reason = `The upload has ${sizeBytes} bytes in all, and this body would make ${least}.`
    throw new LadeError('too_large', { limit: sizeBytes, size: least, reason })
  }
  const limitBytes = fileLimitOf({ tier, head })
  if ((sizeBytes ?? least) > limitBytes) throw tooLarge({ tier, head, sizeBytes: sizeBytes ?? least })
  if (known !== undefined) return { sizeBytes, allow: bodyBytes === undefined ? bounded(known, offset) : undefined }

  const admission: Admission = { reservationId: upload.reservationId, tier, head, termDays: 0 }
  const reserve = (leastBytes: number, aheadBytes: number): Promise<number> =>
    reserveGrowth(deps, { admission }, { leastBytes, aheadBytes })
  if (sizeBytes !== undefined || bodyBytes !== undefined) {
    const neededBytes = sizeBytes ?? least
    if (neededBytes > 0) await reserve(neededBytes, 0)
    return {
      sizeBytes,
      allow: sizeBytes !== undefined && bodyBytes === undefined ? bounded(sizeBytes, offset) : undefined,
    }
  }
  return {
    sizeBytes,
    allow: async (receivedBytes) => (await reserve(offset + receivedBytes, aheadOf(offset + receivedBytes))) - offset,
  }
}

/** A body of unknown length that has a known end. */
function bounded(sizeBytes: number, offset: number): AgreedSize['allow'] {
  return async (receivedBytes) => {
    const size = offset + receivedBytes
    if (size <= sizeBytes) return sizeBytes - offset
    const reason = `The upload has ${sizeBytes} bytes in all, and this body is longer.`
    throw new LadeError('too_large', { limit: sizeBytes, size, reason })
  }
}
