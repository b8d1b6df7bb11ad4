import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { BodyBill } from '@lade/node/budget/body-bill'
import type { AppendDeps, Appended, AppendInput } from '../../../open-uploads/append-request.ts'
import { appendToUpload } from '../../../open-uploads/append-to-upload.ts'
import type { UploadHead } from '../../../uploads/admit-upload.ts'
import { applyHead } from '../../../uploads/apply-head.ts'
import type { StagedUpload } from '../../../uploads/file-commit.ts'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import { exchangeOf } from '../../exchange.ts'
import { declaredBytes, isChunked } from '../../framing.ts'
import type { Service } from '../../service.ts'
import { overQuotaHeaders, quotaHeaders } from '../uploads/quota-headers.ts'

/** What a request says of the bytes that it adds. */
export type SaidOfBody = Pick<AppendInput, 'id' | 'offset' | 'sizeBytes' | 'isLast' | 'checksum'>

/** The service with the storage that uploads in several requests need. @throws {LadeError} `storage_offline`. */
export function withStorage(service: Service): Service & AppendDeps {
  const { blobs } = service
  if (blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
  return { ...service, blobs }
}

/** How many bytes the body of a request has; undefined where its end tells. A request without one has none. */
export function bodyBytesOf(request: IncomingMessage): number | undefined {
  return isChunked(request) ? undefined : (declaredBytes(request) ?? 0)
}

/**
 * Adds the body of a request to an upload, watched for its progress as every upload is.
 *
 * @param headers - get what is left of the quota, in a refusal too.
 * @throws {LadeError} as `appendToUpload`.
 */
export async function appendBody(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  {
    said,
    tier,
    headers,
  }: { readonly said: SaidOfBody; readonly tier: UploadTier; readonly headers: OutgoingHttpHeaders },
): Promise<Appended> {
  const deps = withStorage(service)
  const exchange = exchangeOf(request)
  exchange.notes.tier = tier.name
  exchange.notes.upload = said.id
  const bill = new BodyBill({ budget: service.budget, principal: tier.principal })
  bill.require()
  const bodyBytes = bodyBytesOf(request)
  const controller = new AbortController()
  let isReady = false
  const watched = service.stallWatch.watch(controller, () => isReady && !request.isPaused(), bodyBytes)
  let receivedBytes = 0
  exchange.onBodyCut = () => {
    controller.abort(new LadeError('incomplete_body', { receivedBytes }))
  }
  if (exchange.isBodyCut) exchange.onBodyCut()
  request.once('end', () => watched.end())
  try {
    const appended = await appendToUpload(deps, {
      ...said,
      body: request,
      bodyBytes,
      tier,
      bill,
      ownsChunks: true,
      signal: controller.signal,
      onReady: () => {
        isReady = true
        if (request.headers.expect !== undefined) response.writeContinue()
      },
      onProgress: (totalBytes) => {
        receivedBytes = totalBytes
        watched.progress(totalBytes)
      },
    })
    exchange.notes.sizeBytes = receivedBytes
    return appended
  } catch (error) {
    Object.assign(headers, overQuotaHeaders(tier, error, service.now()))
    throw error
  } finally {
    watched.end()
  }
}

/** What follows when an upload has become a file: a file that was there already becomes what the upload says of it. */
export async function settleStaged(
  service: Service,
  { staged, head, tier }: { readonly staged: StagedUpload; readonly head: UploadHead; readonly tier: UploadTier },
  headers: OutgoingHttpHeaders,
): Promise<StagedUpload['file']> {
  const { file: stored, isNew, isPlaced, day, usedBytes } = staged
  const file = isNew ? stored : await applyHead(service, { tier, head, file: stored })
  if (isPlaced || file !== stored) service.placementJob.wake()
  Object.assign(headers, quotaHeaders(tier, day ?? { usedBytes }, service.now()))
  return file
}
