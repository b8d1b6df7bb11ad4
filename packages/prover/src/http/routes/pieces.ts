import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { readBody, readPieceName } from '../json-body.ts'
import { notFound, Refusal } from '../refusal.ts'
import { findPiece, type ProverService } from '../service.ts'

const CreateBody = z.object({ pieceCid: z.string(), notify: z.string().optional() })

/** Ping, the beginning of an upload, and what is known of a piece. */
export function pieceRoutes(app: FastifyInstance, service: ProverService): void {
  const { store, uploads, limits } = service

  app.get('/pdp/ping', (_request, reply) => reply.type('text/plain; charset=utf-8').send('curio-pdp'))

  app.post('/pdp/piece', async (request, reply) => {
    const body = readBody(CreateBody, request.body)
    const piece = readPieceName(body.pieceCid)
    const { pieceCid, rawSizeBytes } = piece
    if (rawSizeBytes < limits.minPieceBytes) throw tooSmall(limits.minPieceBytes)
    if (rawSizeBytes > limits.maxPieceBytes) throw tooLarge(limits.maxPieceBytes)
    if (store.get(pieceCid) !== undefined) {
      store.want(pieceCid)
      return reply.send({ pieceCid })
    }
    const id = await uploads.open({ kind: 'named', piece, notifyUrl: body.notify, isDone: false })
    if (id === undefined) throw tooManyUploads()
    return reply.code(201).header('location', `/pdp/piece/upload/${id}`).send()
  })

  app.get<{ Querystring: { pieceCid?: string | string[] } }>('/pdp/piece', async (request) => {
    const { pieceCid } = readPieceName(String(request.query.pieceCid ?? ''), 'Failed to parse CID')
    if (findPiece(service, pieceCid) === undefined) throw notFound()
    return { pieceCid }
  })

  app.get<{ Params: { pieceCid: string } }>('/pdp/piece/:pieceCid/status', async (request) => {
    const { pieceCid } = readPieceName(request.params.pieceCid, 'Invalid pieceCid format')
    if (findPiece(service, pieceCid) === undefined) {
      throw new Refusal(404, 'Piece not found or does not belong to service', { hasEventId: false })
    }
    // Nothing is indexed or advertised here.
    return { pieceCid, status: 'pending', indexed: false, adCreated: false, advertised: false, retrieved: false }
  })
}

export function tooSmall(minBytes: number): Refusal {
  return new Refusal(400, `piece data is below the minimum allowed size (${minBytes} bytes)`)
}

export function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, `piece data exceeds the maximum allowed size (${maxBytes} bytes)`)
}

export function tooManyUploads(): Refusal {
  return new Refusal(503, 'Too many uploads are open', { retryAfterSeconds: 60 })
}
