import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { BodyBill } from '@lade/node/budget/body-bill'
import { uploadedDeal } from '../../../deals/uploaded-deal.ts'
import { uploadResultOf } from '../../../files/file-entry.ts'
import { admitUpload, type SizedHead, type UploadHead } from '../../../uploads/admit-upload.ts'
import type { StagedUpload } from '../../../uploads/file-commit.ts'
import { stageAtOnce } from '../../../uploads/stage-at-once.ts'
import { stageUpload } from '../../../uploads/stage-upload.ts'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import { exchangeOf } from '../../exchange.ts'
import type { Query } from '../../query.ts'
import { sendJson } from '../../respond.ts'
import type { Service } from '../../service.ts'
import { guardChange } from '../../session-request.ts'
import { overQuotaHeaders } from './quota-headers.ts'
import { settleStaged } from './settle-staged.ts'
import { tierOf } from './tier-of.ts'
import { readUploadHead } from './upload-head.ts'
import { watchBody } from './watch-body.ts'

/** Whether a write that failed was made is known only after the next start, or never. */
const SAFE_TO_REPEAT =
  'The service could not write the file. Send it again. Repeating the upload is safe: you are charged only once.'

/**
 * `POST` or `PUT /api/upload?cid=…`: the head is judged, the quota reserved, and only then is a byte of the body asked for.
 *
 * @throws {LadeError} every refusal; the caller answers it.
 */
export async function createUpload(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  query: Query,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  guardChange(service, request)
  const head = readUploadHead(request, query, service.config.opaqueIds)
  noteHead(request, head)
  const tier = await tierOf(service, request, query)
  await takeUpload(service, request, response, { head, tier, headers })
}

/**
 * Takes the body of an upload whose head and tier are known, and answers what it was staged as.
 *
 * @throws {LadeError} every refusal; the caller answers it.
 */
export async function takeUpload(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  {
    head,
    tier,
    headers,
  }: { readonly head: UploadHead; readonly tier: UploadTier; readonly headers: OutgoingHttpHeaders },
): Promise<void> {
  const { notes } = exchangeOf(request)
  noteHead(request, head)
  notes.tier = tier.name
  const bill = new BodyBill({ budget: service.budget, principal: tier.principal })
  bill.require()
  try {
    const staged = await (hasSmallBody(service, request, head)
      ? service.uploadTurns.take(() => stageAtOnce(service, { tier, head, bill }, () => takeBody(request)))
      : stageStream(service, request, response, { tier, head, bill }))
    notes.sizeBytes = staged.file.sizeBytes
    notes.dealId = staged.file.dealId
    const file = await settleStaged(service, { staged, head, tier }, headers)
    // What nobody has begun to place has nothing to be looked up.
    const deal = staged.isNew && !staged.isPlaced ? undefined : await uploadedDeal(service, file)
    sendJson(
      request,
      response,
      200,
      uploadResultOf(file, deal, head.cid.text, service.retrievalUrl, service.filesNow()),
      headers,
    )
  } catch (error) {
    Object.assign(headers, overQuotaHeaders(tier, error, service.now()))
    if (LadeError.has(error, 'storage_failed')) {
      const { retryAfterSeconds, reason = SAFE_TO_REPEAT } = error.evidence
      throw new LadeError('storage_failed', { retryAfterSeconds, reason }, { cause: error.cause ?? error })
    }
    throw error
  }
}

/** Also for the log line of an upload that is refused for its credentials. */
function noteHead(request: IncomingMessage, { cid, sizeBytes }: UploadHead): void {
  const { notes } = exchangeOf(request)
  notes.cid = cid.text
  if (sizeBytes !== undefined) notes.sizeBytes = sizeBytes
}

/** True when the whole body of a small upload has come in behind its head, as small bodies mostly do. */
function hasSmallBody(service: Service, request: IncomingMessage, head: UploadHead): head is SizedHead {
  if (head.sizeBytes === undefined) return false
  // Nothing follows, whatever the request expects.
  if (head.sizeBytes === 0) return true
  return (
    head.sizeBytes <= service.inlineBytes &&
    !service.proverStaging.isNeeded(head) &&
    request.readableLength === head.sizeBytes &&
    request.headers.expect === undefined
  )
}

function takeBody(request: IncomingMessage): Uint8Array {
  const body: Uint8Array = request.read() ?? new Uint8Array()
  // Lets the request end, so that the connection can bring the next one.
  request.resume()
  return body
}

async function stageStream(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  { tier, head, bill }: { readonly tier: UploadTier; readonly head: UploadHead; readonly bill: BodyBill },
): Promise<StagedUpload> {
  const { blobs } = service
  const admission = await admitUpload(service, { tier, head, isStorageBound: blobs !== undefined })
  if (blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
  const watched = watchBody(service, request, response, {
    sizeBytes: head.sizeBytes,
    // Bytes that came behind the head, and that nobody has read yet, arrived as well.
    cutEvidence: (receivedBytes) => ({
      ...(head.sizeBytes !== undefined && { expectedBytes: head.sizeBytes }),
      receivedBytes: receivedBytes + request.readableLength,
    }),
  })
  try {
    return await stageUpload(
      { ...service, blobs },
      {
        admission,
        body: request,
        bill,
        ownsChunks: true,
        signal: watched.signal,
        onReady: watched.onReady,
        onProgress: watched.onProgress,
      },
    )
  } finally {
    watched.end()
  }
}
