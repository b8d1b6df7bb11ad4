import type { Readable } from 'node:stream'
import { LadeError } from '@lade/core/errors'
import type { FastifyInstance, FastifyReply } from 'fastify'
import * as z from 'zod'
import { readBody, readPieceName } from '../json-body.ts'
import { notFound, Refusal } from '../refusal.ts'
import type { ProverService } from '../service.ts'
import { tooLarge, tooManyUploads, tooSmall } from './pieces.ts'

const FinalizeBody = z.object({ pieceCid: z.string(), notify: z.string().optional() })
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface Upload {
  readonly Params: { readonly id: string }
}

/**
 * The bytes of a piece, under a CID that was said before, or one that is said after them.
 *
 * Both ways end with the bytes flushed, checked and named, and then, only then, the answer that says so.
 */
export function uploadRoutes(app: FastifyInstance, service: ProverService): void {
  app.post('/pdp/piece/uploads', async (_request, reply) => {
    const id = await service.uploads.open({ kind: 'streaming', pending: undefined })
    if (id === undefined) throw tooManyUploads()
    return reply.code(201).header('location', `/pdp/piece/uploads/${id}`).send()
  })
  app.post<Upload>('/pdp/piece/uploads/:id', (request, reply) =>
    finalize(service, readUuid(request.params.id), request.body, reply),
  )
  app.register(async (bodies) => {
    bodies.removeAllContentTypeParsers()
    bodies.addContentTypeParser('*', (_request, body, done) => done(null, body))
    bodies.put<Upload>('/pdp/piece/upload/:id', (request, reply) =>
      takeNamed(service, readUuid(request.params.id), request.raw, reply),
    )
    bodies.put<Upload>('/pdp/piece/uploads/:id', (request, reply) =>
      takeStreamed(service, readUuid(request.params.id), request.raw, reply),
    )
  })
}

async function takeNamed(service: ProverService, id: string, body: Readable, reply: FastifyReply): Promise<unknown> {
  const { uploads, store, limits } = service
  const upload = uploads.find(id, 'named')
  if (upload === undefined) throw new Refusal(404, 'Upload UUID not found')
  if (upload.isDone) throw new Refusal(409, 'Data has already been uploaded')
  const { rawSizeBytes } = upload.piece
  const pending = await store
    .receive(body, { maxBytes: rawSizeBytes, idleMs: limits.bodyIdleMs })
    .catch((error: unknown) => {
      if (!LadeError.has(error, 'too_large')) throw error
      throw new Refusal(400, `piece data exceeds the size declared in pieceCid (${rawSizeBytes} bytes)`)
    })
  if (pending.pieceCid !== upload.piece.pieceCid) {
    await store.discard(pending)
    const isWrongSize = pending.rawSizeBytes !== rawSizeBytes
    const reason = isWrongSize
      ? 'Piece size does not match the expected size'
      : 'Computed hash does not match expected hash'
    throw new Refusal(400, reason)
  }
  const held = await store.keep(pending)
  upload.isDone = true
  if (upload.notifyUrl !== undefined) service.notify(upload.notifyUrl, id, held)
  return reply.code(204).send()
}

/** A second body takes the place of the first, as long as neither was finalized. */
async function takeStreamed(service: ProverService, id: string, body: Readable, reply: FastifyReply): Promise<unknown> {
  const { uploads, store, limits } = service
  const upload = uploads.find(id, 'streaming')
  if (upload === undefined) throw notFound()
  const pending = await store
    .receive(body, { maxBytes: limits.maxPieceBytes, idleMs: limits.bodyIdleMs })
    .catch((error: unknown) => {
      throw LadeError.has(error, 'too_large') ? tooLarge(limits.maxPieceBytes) : error
    })
  // It may have been finalized or forgotten meanwhile.
  const isLate = uploads.find(id, 'streaming') !== upload
  const isSmall = pending.rawSizeBytes < limits.minPieceBytes
  if (isLate || isSmall) {
    await store.discard(pending)
    throw isSmall ? tooSmall(limits.minPieceBytes) : notFound()
  }
  const former = upload.pending
  upload.pending = pending
  if (former !== undefined) await store.discard(former)
  return reply.code(204).send()
}

async function finalize(service: ProverService, id: string, rawBody: unknown, reply: FastifyReply): Promise<unknown> {
  const { uploads, store } = service
  const upload = uploads.find(id, 'streaming')
  if (upload === undefined) throw notFound()
  const body = readBody(FinalizeBody, rawBody)
  const { pieceCid, rawSizeBytes } = readPieceName(body.pieceCid)
  const { pending } = upload
  // What Curio says of an upload that has no bytes yet.
  if (pending === undefined) throw new Refusal(500, 'Database error')
  if (pending.rawSizeBytes !== rawSizeBytes) {
    throw new Refusal(400, 'Invalid request body: pieceCid size does not match uploaded piece size')
  }
  if (pending.pieceCid !== pieceCid) {
    const reason = 'pieceCid does not match the calculated pieceCid for the uploaded piece'
    throw new Refusal(400, `Invalid request body: ${reason}`)
  }
  // Before the first wait: one of two that finalize at once gets 404, as does every later one.
  uploads.forget(id)
  const held = await store.keep(pending)
  if (body.notify !== undefined) service.notify(body.notify, id, held)
  return reply.code(200).send()
}

function readUuid(text: string): string {
  if (!UUID.test(text)) throw new Refusal(400, 'Invalid upload UUID')
  return text.toLowerCase()
}
