import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseAnyPieceName } from '../../pieces/piece-name.ts'
import { readRange } from '../byte-range.ts'
import { notFound, Refusal } from '../refusal.ts'
import type { ProverService } from '../service.ts'

interface OfPiece {
  readonly Params: { readonly pieceCid: string }
}

/** The raw bytes of a piece, under its CID of either version. @see FRC-0066 */
export function retrievalRoutes(app: FastifyInstance, service: ProverService): void {
  app.route<OfPiece>({
    method: ['GET', 'HEAD'],
    url: '/piece/:pieceCid',
    handler: (request, reply) => sendPiece(service, request, reply, request.params.pieceCid),
  })
}

async function sendPiece(
  { store }: ProverService,
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<FastifyReply> {
  const name = parseAnyPieceName(text)
  if (name === undefined) throw new Refusal(400, 'Invalid piece CID', { hasEventId: false })
  const [cid, piece] =
    'pieceCid' in name ? [name.pieceCid, store.get(name.pieceCid)] : [name.pieceCidV1, store.getByRoot(name.root)]
  const reader = piece && (await store.read(piece))
  if (piece === undefined || reader === undefined) throw notFound()
  // Whatever becomes of the answer, the file is closed with it.
  reply.raw.once('close', () => void reader.close())

  const etag = `"${cid}"`
  const { rawSizeBytes } = piece
  reply.headers({
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'public, max-age=29030400, immutable',
    vary: 'Accept-Encoding',
    'x-content-type-options': 'nosniff',
  })
  if (isNoneMatch(request.headers['if-none-match'], etag)) return reply.code(304).send()
  const range = readRange(askedRange(request, etag), rawSizeBytes)
  if (range === 'unsatisfiable') return reply.code(416).header('content-range', `bytes */${rawSizeBytes}`).send()
  const { offsetBytes, lengthBytes } = range === 'whole' ? { offsetBytes: 0, lengthBytes: rawSizeBytes } : range
  if (range !== 'whole') {
    const lastByte = offsetBytes + lengthBytes - 1
    reply.code(206).header('content-range', `bytes ${offsetBytes}-${lastByte}/${rawSizeBytes}`)
  }
  reply.header('content-length', lengthBytes).type('application/octet-stream')
  if (request.method === 'HEAD') return reply.send()
  return reply.send(Readable.from(reader.blocks(offsetBytes, lengthBytes), { objectMode: false, highWaterMark: 1 }))
}

/** Only GET has ranges, and `If-Range` with another tag asks for the whole. */
function askedRange({ method, headers }: FastifyRequest, etag: string): string | undefined {
  const ifRange = headers['if-range']
  return method === 'GET' && (ifRange === undefined || ifRange === etag) ? headers.range : undefined
}

function isNoneMatch(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes(etag) || tags.includes('*')
}
