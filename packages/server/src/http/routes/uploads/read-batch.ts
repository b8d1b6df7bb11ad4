import type { IncomingMessage, ServerResponse } from 'node:http'
import { type NamedBlock, splitCar } from '@lade/core/dag'
import { bytesText, LadeError } from '@lade/core/errors'
import { CAR_MEDIA_TYPE, HEADER, isCarMediaType, MAX_BATCH_BYTES, MAX_BATCH_FILES } from '@lade/core/wire'
import type { UploadHead } from '../../../uploads/admit-upload.ts'
import { exchangeOf } from '../../exchange.ts'
import { declaredBytes, singleHeader } from '../../framing.ts'
import type { Service } from '../../service.ts'
import { requireRawBytes } from './raw-bytes.ts'
import { claimDigestOf, termDaysOf, visibilityOf } from './upload-head.ts'

/** What the head of a batch says. */
export interface BatchHead {
  readonly sizeBytes: number
  /** How its files are kept. */
  readonly keeping: Pick<UploadHead, 'visibility' | 'termDays' | 'claimDigest'>
}

/**
 * @throws {LadeError} `no_body`, `empty_body`, `too_large`, `unsupported_encoding`, `unsupported_media_type`, `invalid_visibility`,
 *   `invalid_term`, `bad_request`.
 */
export function readBatchHead(request: IncomingMessage): BatchHead {
  const sizeBytes = declaredBytes(request)
  if (sizeBytes === undefined) throw new LadeError('no_body', {})
  if (sizeBytes === 0) throw new LadeError('empty_body', {})
  if (sizeBytes > MAX_BATCH_BYTES) {
    const reason = `A batch can be at most ${bytesText(MAX_BATCH_BYTES)}. Send several, or upload large files by themselves.`
    throw new LadeError('too_large', { limit: MAX_BATCH_BYTES, size: sizeBytes, reason })
  }
  requireRawBytes(request)
  const contentType = request.headers['content-type'] ?? ''
  if (!isCarMediaType(contentType)) {
    const reason = `A batch is a CAR. Send it with Content-Type: ${CAR_MEDIA_TYPE}.`
    throw new LadeError('unsupported_media_type', { contentType: contentType.slice(0, 80), reason })
  }
  const keeping = {
    visibility: visibilityOf(singleHeader(request, HEADER.visibility)),
    termDays: termDaysOf(singleHeader(request, HEADER.termDays)),
    claimDigest: claimDigestOf(singleHeader(request, HEADER.claimDigest)),
  }
  return { sizeBytes, keeping }
}

/** @throws {LadeError} `invalid_car`, `bad_request` for more files than a batch can have. */
export function readBlocks(bytes: Uint8Array): readonly NamedBlock[] {
  const blocks = splitCar(bytes)
  if ('fault' in blocks) throw new LadeError('invalid_car', { reason: blocks.reason })
  if (blocks.length > MAX_BATCH_FILES) {
    const counts = `The batch has ${blocks.length} files; the maximum is ${MAX_BATCH_FILES}.`
    throw new LadeError('bad_request', { reason: `${counts} Send several batches.` })
  }
  return blocks
}

export interface BatchBody {
  readonly sizeBytes: number
  /** Ends the body; aborted when it stalls. */
  readonly controller: AbortController
  readonly onProgress: (receivedBytes: number) => void
}

/**
 * Reads a batch whole. It is watched for progress like an upload.
 *
 * @throws {LadeError} `incomplete_body`, `body_timeout`, and the reason of the controller's signal.
 */
export async function readBatchBody(
  { stallWatch }: Pick<Service, 'stallWatch'>,
  request: IncomingMessage,
  response: ServerResponse,
  { sizeBytes, controller, onProgress }: BatchBody,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(sizeBytes)
  const exchange = exchangeOf(request)
  const watched = stallWatch.watch(controller, () => !request.isPaused(), sizeBytes)
  let receivedBytes = 0
  let take = (_chunk: Uint8Array): void => {}
  try {
    await new Promise<void>((resolve, reject) => {
      const cutShort = (): void => reject(new LadeError('incomplete_body', { expectedBytes: sizeBytes, receivedBytes }))
      exchange.onBodyCut = cutShort
      if (exchange.isBodyCut) cutShort()
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
      if (controller.signal.aborted) reject(controller.signal.reason)
      take = (chunk) => {
        bytes.set(chunk, receivedBytes)
        receivedBytes += chunk.length
        watched.progress(receivedBytes)
        onProgress(receivedBytes)
      }
      request.on('data', take)
      request.once('end', resolve)
      request.once('error', cutShort)
      request.once('close', cutShort)
      if (request.headers.expect !== undefined) response.writeContinue()
    })
    return bytes
  } finally {
    watched.end()
    request.off('data', take)
    if (receivedBytes < sizeBytes) request.pause()
  }
}
