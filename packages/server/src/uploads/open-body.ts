import { LadeError } from '@lade/core/errors'
import { type BodySource, DEFAULT_BLOCK_BYTES } from '../blobs/body-intake.ts'
import type { RecordStore } from '../records/record-store.ts'
import { type Admission, fileLimitOf, overQuota, tooLarge } from './admit-upload.ts'
import { namesEmptyFile } from './empty-file.ts'
import { GrowingBody } from './growing-body.ts'

/** What is reserved ahead of a body of unknown length: this part of what has come, */
const AHEAD_SHARE = 1 / 8
/** but at least so much, and at most so much: it is missing to others meanwhile. */
const LEAST_AHEAD_BYTES = 1024 * 1024
const MOST_AHEAD_BYTES = 64 * 1024 * 1024

export interface OpenBodyDeps {
  readonly records: Pick<RecordStore, 'quotas'>
  readonly now: () => number
}

export interface OpenBodyInput {
  readonly admission: Admission
  readonly body: BodySource
  readonly signal: AbortSignal
  readonly onProgress: (receivedBytes: number) => void
  /** Called once, when the body may flow. */
  readonly onReady: () => void
}

/** A body that flows, and its size where that is known by now. */
export interface OpenBody {
  readonly body: BodySource
  readonly sizeBytes: number | undefined
  close(): void
}

/**
 * Opens a body whose length was not declared. One that ends within its first MiB is a body of known length from then on, and its bytes are
 * reserved. Of a longer one, bytes are passed on once they are reserved, in steps that grow with it, and exactly to the last byte that fits.
 *
 * @throws {LadeError} `incomplete_body`, `empty_body`, `too_large`, `rate_limited`, `quota_exceeded`, `lease_lost`, `storage_failed`, and the
 *   reason of `signal`. Later ones come from the body.
 */
export async function openBodyOfUnknownLength(deps: OpenBodyDeps, input: OpenBodyInput): Promise<OpenBody> {
  const { head } = input.admission
  const reserve = (leastBytes: number, aheadBytes: number) => reserveGrowth(deps, input, { leastBytes, aheadBytes })
  const body = new GrowingBody(input.body, { ...input, allow: (bytes) => reserve(bytes, aheadOf(bytes)) })
  try {
    input.onReady()
    const sizeBytes = await body.begin(DEFAULT_BLOCK_BYTES)
    if (sizeBytes === 0 && !namesEmptyFile(head.cid)) throw new LadeError('empty_body', {})
    if (sizeBytes !== undefined && sizeBytes > 0) await reserve(sizeBytes, 0)
    return { body, sizeBytes, close: () => body.close() }
  } catch (error) {
    body.close()
    throw error
  }
}

/**
 * Reserves more for an upload whose length was not declared. Resolves to how many bytes it may bring in all.
 *
 * @throws {LadeError} `too_large`, `lease_lost`, `rate_limited`, `quota_exceeded`, `storage_failed`.
 */
export async function reserveGrowth(
  { records, now }: OpenBodyDeps,
  { admission }: Pick<OpenBodyInput, 'admission'>,
  { leastBytes, aheadBytes }: { readonly leastBytes: number; readonly aheadBytes: number },
): Promise<number> {
  const { reservationId, tier, head } = admission
  const limitBytes = fileLimitOf(admission)
  if (leastBytes > limitBytes) throw tooLarge({ tier, head, sizeBytes: leastBytes })
  const wantedBytes = Math.min(leastBytes + aheadBytes, limitBytes)
  const { principal } = tier
  const growth = { reservationId, principal, key: head.cid.key, leastBytes, wantedBytes, now: now() }
  const grown = await records.quotas.grow(growth)
  switch (grown.outcome) {
    case 'grown':
      return grown.allowedBytes
    case 'lost':
      throw new LadeError('lease_lost', { retryAfterSeconds: 1 })
    case 'over_quota':
      throw overQuota({ tier, sizeBytes: leastBytes, isGrowing: aheadBytes > 0 }, grown, now())
  }
}

/** How much is reserved ahead of what has come. */
export function aheadOf(receivedBytes: number): number {
  return Math.max(LEAST_AHEAD_BYTES, Math.min(MOST_AHEAD_BYTES, Math.floor(receivedBytes * AHEAD_SHARE)))
}
