import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { reachOf } from '../../pull/allowed-hosts.ts'
import type { PullSource } from '../../pull/pulls.ts'
import { Address, Hex, readBody, readPieceName } from '../json-body.ts'
import { Refusal } from '../refusal.ts'
import type { ProverService } from '../service.ts'
import { tooLarge, tooSmall } from './pieces.ts'

const MAX_PIECES = 40
const RETRY_AFTER_SECONDS = 60

const PullBody = z.object({
  extraData: Hex.min(1),
  recordKeeper: Address.optional(),
  dataSetId: z.int().min(0).optional(),
  pieces: z
    .array(z.object({ pieceCid: z.string(), sourceUrl: z.string().max(4096) }))
    .min(1)
    .max(MAX_PIECES),
})

/** Pieces that are fetched from where others hold them; the same request again asks how that is going. */
export function pullRoutes(app: FastifyInstance, service: ProverService): void {
  app.post('/pdp/piece/pull', async (request) => {
    const { extraData, recordKeeper = '', dataSetId = 0, pieces } = readBody(PullBody, request.body)
    if (dataSetId === 0 && recordKeeper === '') {
      throw new Refusal(400, 'Validation error: recordKeeper is required when dataSetId is not provided or is 0')
    }
    const sources = pieces.map((piece, index) => readSource(service, piece, index))
    if (new Set(pieces.map(({ pieceCid, sourceUrl }) => `${pieceCid} ${sourceUrl}`)).size < pieces.length) {
      throw new Refusal(400, 'Validation error: duplicate pieceCid/sourceUrl')
    }
    if (dataSetId !== 0 && service.dataSets.get(dataSetId) === undefined) throw new Refusal(404, 'Data set not found')

    const extraDataSha256 = createHash('sha256').update(extraData.toLowerCase().replace(/^0x/, ''), 'hex').digest('hex')
    const answer = service.pulls.request(`${extraDataSha256} ${dataSetId} ${recordKeeper.toLowerCase()}`, sources)
    if (answer !== undefined) return answer
    throw new Refusal(429, 'pull queue backpressure', { hasEventId: false, retryAfterSeconds: RETRY_AFTER_SECONDS })
  })
}

function readSource(
  { limits, allowedHosts }: ProverService,
  { pieceCid, sourceUrl }: { readonly pieceCid: string; readonly sourceUrl: string },
  index: number,
): PullSource {
  const piece = readPieceName(pieceCid, `Invalid piece[${index}] pieceCid`)
  if (piece.rawSizeBytes < limits.minPieceBytes) throw tooSmall(limits.minPieceBytes)
  if (piece.rawSizeBytes > limits.maxPieceBytes) throw tooLarge(limits.maxPieceBytes)
  const url = URL.parse(sourceUrl)
  if (url === null) throw new Refusal(400, `Validation error: piece[${index}]: invalid URL`)
  if (reachOf(url, allowedHosts) === undefined) {
    throw new Refusal(400, `Validation error: piece[${index}]: the source is not one that this provider may read`)
  }
  return { piece, sourceUrl: url }
}
