import { hex0xOf } from '@lade/node/hashing/hex'
import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { type ChallengedPiece, type PossessionChallenge, provePossession } from '../../proving/prove-possession.ts'
import { readBody, readPieceName } from '../json-body.ts'
import { Refusal } from '../refusal.ts'
import type { ProverService } from '../service.ts'
import { findDataSet } from './data-sets.ts'

/** As many as the contract asks for in one proving period. */
const CHALLENGES_PER_PROOF = 5
const MAX_COUNT = 100
const MAX_PIECES = 1000

const Seed = z.string().regex(/^(?:0x)?[0-9a-f]{64}$/i)
const Count = z.int().min(1).max(MAX_COUNT).default(CHALLENGES_PER_PROOF)
const Uint256 = z
  .union([z.int().min(0), z.string().regex(/^\d{1,78}$/)])
  .transform(BigInt)
  .refine((id) => id >> 256n === 0n)
const ProvePiecesBody = z.object({
  seed: Seed,
  count: Count,
  dataSetId: Uint256.default(0n),
  pieceCid: z.string().optional(),
  pieceCids: z.array(z.string()).max(MAX_PIECES).default([]),
})
const ProveDataSetBody = z.object({ seed: Seed, count: Count })

interface OfDataSet {
  readonly Params: { readonly id: string }
}

/** Proofs of possession on demand; Curio gives its own to the contract only. */
export function proveRoutes(app: FastifyInstance, service: ProverService): void {
  const { store, dataSets } = service

  app.post('/pdp/prove', async (request) => {
    const { seed, count, dataSetId, pieceCid, pieceCids } = readBody(ProvePiecesBody, request.body)
    const names = [...(pieceCid === undefined ? [] : [pieceCid]), ...pieceCids]
    const pieces = names.map((name, pieceId) => {
      const piece = store.get(readPieceName(name).pieceCid)
      if (piece === undefined) throw new Refusal(404, 'Piece not found', { hasEventId: false })
      return { pieceId, piece }
    })
    return prove(service, { seed: seedOf(seed), dataSetId, pieces, count })
  })

  app.post<OfDataSet>('/pdp/data-sets/:id/prove', async (request) => {
    const dataSet = findDataSet(service, request.params.id)
    const { seed, count } = readBody(ProveDataSetBody, request.body)
    const pieces = dataSets.livePieces(dataSet).map(({ pieceId, pieceCid }): ChallengedPiece => {
      const piece = store.get(pieceCid)
      if (piece === undefined) throw unprovable(pieceCid, 'lost')
      return { pieceId, piece }
    })
    return prove(service, { seed: seedOf(seed), dataSetId: BigInt(dataSet.id), pieces, count })
  })
}

async function prove({ store }: ProverService, challenge: PossessionChallenge) {
  if (challenge.pieces.length === 0) throw new Refusal(400, 'There is no piece to prove', { hasEventId: false })
  const possession = await provePossession(store, challenge)
  if ('because' in possession) throw unprovable(possession.pieceCid, possession.because)
  const { challengeRange, proofs } = possession
  return {
    challengeRange: Number(challengeRange),
    proofs: proofs.map(({ pieceId, piece, challengeIndex, leafIndex, leaf, proof }) => ({
      pieceId,
      pieceCid: piece.pieceCid,
      challengeIndex: Number(challengeIndex),
      leafIndex,
      leaf: hex0xOf(leaf),
      proof: proof.map(hex0xOf),
    })),
  }
}

function unprovable(pieceCid: string, because: 'lost' | 'rotten'): Refusal {
  const what = because === 'lost' ? 'is not there any more' : 'has other bytes than it should have'
  return new Refusal(410, `Cannot prove: piece ${pieceCid} ${what}`)
}

function seedOf(text: string): Uint8Array {
  return Buffer.from(text.replace(/^0x/i, ''), 'hex')
}
