import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { BodyBill } from '@lade/node/budget/body-bill'
import type { AppendDeps, Appended, AppendInput } from '../../../open-uploads/append-request.ts'
import { appendToUpload } from '../../../open-uploads/append-to-upload.ts'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import { exchangeOf } from '../../exchange.ts'
import { declaredBytes, isChunked } from '../../framing.ts'
import type { Service } from '../../service.ts'
import { overQuotaHeaders } from '../uploads/quota-headers.ts'
import { watchBody } from '../uploads/watch-body.ts'

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
  const { notes } = exchangeOf(request)
  notes.tier = tier.name
  notes.upload = said.id
  const bill = new BodyBill({ budget: service.budget, principal: tier.principal })
  bill.require()
  const bodyBytes = bodyBytesOf(request)
  const watched = watchBody(service, request, response, {
    sizeBytes: bodyBytes,
    cutEvidence: (receivedBytes) => ({ receivedBytes }),
  })
  try {
    const appended = await appendToUpload(deps, {
      ...said,
      body: request,
      bodyBytes,
      tier,
      bill,
      ownsChunks: true,
      signal: watched.signal,
      onReady: watched.onReady,
      onProgress: watched.onProgress,
    })
    notes.sizeBytes = watched.receivedBytes()
    return appended
  } catch (error) {
    Object.assign(headers, overQuotaHeaders(tier, error, service.now()))
    throw error
  } finally {
    watched.end()
  }
}
