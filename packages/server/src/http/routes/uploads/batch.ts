import { LadeError } from '@lade/core/errors'
import { type BatchResult, batchHeaders, batchResult, CAR_MEDIA_TYPE } from '@lade/core/wire'
import { BodyBill } from '@lade/node/budget/body-bill'
import { HeldMemory } from '@lade/node/hashing/held-memory'
import { utcDay } from '../../../quotas/utc-day.ts'
import { LEASE_MS, quotaRefusal } from '../../../uploads/admit-upload.ts'
import { spending } from '../../../uploads/spending.ts'
import { type BatchedFile, stageBatch } from '../../../uploads/stage-batch.ts'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import { closedSignal } from '../../closed-signal.ts'
import { exchangeOf } from '../../exchange.ts'
import { sendJson } from '../../respond.ts'
import type { Service } from '../../service.ts'
import { guardChange } from '../../session-request.ts'
import { type RawHandler, rawRoute } from '../raw-route.ts'
import { bytes, problems, type Routes, security, takenOver, tokenQuery } from '../routes.ts'
import { readBatchBody, readBatchHead, readBlocks } from './read-batch.ts'
import { tierOf } from './tier-of.ts'

/** What the batches that are being read or staged hold together, each at most 16 MiB. */
const MAX_HELD_BYTES = 256 * 1024 * 1024

/** `/api/batches`. */
export function batchRoutes(app: Routes, service: Service): void {
  app.post(
    '/api/batches',
    {
      schema: {
        tags: ['uploads'],
        operationId: 'uploadBatch',
        summary: 'Stage many small files',
        description:
          'Scope put. The body is a CAR of version 1, and each of its blocks is a whole file: its CID has the codec raw and the hash ' +
          'sha2-256. Each file is verified, charged and stored by itself, as an upload without a name and with the type ' +
          'application/octet-stream. A file that is refused is named in the response, nothing of it is stored or charged, and the others ' +
          'stay. The response is sent when the files are durable. If the framing of the CAR is broken, none of it is stored.',
        security: [{}, ...security],
        querystring: tokenQuery,
        headers: batchHeaders,
        body: bytes,
        consumes: [CAR_MEDIA_TYPE],
        response: {
          200: batchResult.describe('Each file, stored or refused'),
          ...problems(400, 401, 403, 408, 411, 413, 415, 429, 503),
        },
      },
      onRequest: rawRoute(service, batchHandler(service)),
    },
    takenOver,
  )
}

function batchHandler(service: Service): RawHandler {
  const held = new HeldMemory(MAX_HELD_BYTES)
  return async (request, response, { query, headers }) => {
    guardChange(service, request)
    const { sizeBytes, keeping } = readBatchHead(request)
    const { notes } = exchangeOf(request)
    notes.sizeBytes = sizeBytes
    const tier = await tierOf(service, request, query)
    notes.tier = tier.name
    const { blobs, budget } = service
    if (blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
    const { principal } = tier
    new BodyBill({ budget, principal }).require()
    const reservationId = await takePlace(service, tier)
    const controller = new AbortController()
    const holder = { principal, end: (reason: LadeError) => controller.abort(reason) }
    const onProgress = (receivedBytes: number): void => held.set(holder, receivedBytes)
    const take = async (): Promise<readonly BatchedFile[]> => {
      const body = await readBatchBody(service, request, response, { sizeBytes, controller, onProgress })
      const blocks = spending({ budget, principal, work: 'hash' }, () => readBlocks(body))
      notes.files = blocks.length
      const signal = AbortSignal.any([controller.signal, closedSignal(response)])
      // The batch is one upload in flight, and its files are not others.
      const concurrency = tier.concurrency + (reservationId === undefined ? 0 : 1)
      return stageBatch({ ...service, blobs }, { tier: { ...tier, concurrency }, keeping, blocks, signal })
    }
    const files = await take().finally(async () => {
      held.set(holder, 0)
      if (reservationId !== undefined) await service.reservations.release({ reservationId, now: service.now() })
    })
    if (files.some(needsPlacement)) service.placementJob.wake()
    sendJson(request, response, 200, resultOf(files), headers)
  }
}

/**
 * Counts the batch as an upload in flight.
 *
 * @returns what to release at its end; undefined where the quota is used up. Its files are still looked at: those that are stored already need none.
 * @throws {LadeError} `too_many_uploads`.
 */
async function takePlace(service: Service, tier: UploadTier): Promise<string | undefined> {
  const { reservations, instanceId, newId } = service
  const now = service.now()
  const { principal, concurrency, dailyBytes, dailyFiles, storedBytes, token } = tier
  const reservationId = newId()
  const caps = { capBytes: dailyBytes, capFiles: dailyFiles, capStoredBytes: storedBytes, token }
  const asked = { principal, day: utcDay(now), key: `batch:${reservationId}`, sizeBytes: 0, grows: true }
  const leaseUntil = now + LEASE_MS
  const reserved = await reservations.make({
    ...caps,
    ...asked,
    maxInFlight: concurrency,
    now,
    reservationId,
    instanceId,
    leaseUntil,
  })
  if (reserved.outcome === 'too_many_in_flight') throw quotaRefusal({ tier, sizeBytes: 0 }, reserved, now)
  return reserved.outcome === 'reserved' ? reservationId : undefined
}

function needsPlacement(batched: BatchedFile): boolean {
  return batched.error === undefined && (batched.staged.isPlaced || batched.file !== batched.staged.file)
}

function resultOf(files: readonly BatchedFile[]): BatchResult {
  return {
    files: files.map(({ cid, sizeBytes: size, ...result }) =>
      result.error === undefined
        ? { cid, size, expiresAt: new Date(result.file.expiresAt).toISOString() }
        : { cid, size, error: result.error.code, detail: result.error.message },
    ),
  }
}
