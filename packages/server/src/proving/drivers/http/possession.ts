import { hex0xOf } from '@lade/node/hashing/hex'
import * as z from 'zod'
import type { PossessionProof } from '../../prover.ts'
import type { ProverClient } from './prover-client.ts'
import { unusable } from './stage-failure.ts'

/** More than the height of any piece. */
const MAX_PATH = 64
/** The slowest retrieval that is waited for. */
const READ_BYTES_PER_SECOND = 256 * 1024

const Node = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform((text): Uint8Array => Buffer.from(text.slice(2), 'hex'))
const Possession = z.object({
  proofs: z.array(z.object({ leafIndex: z.int().min(0), leaf: Node, proof: z.array(Node).max(MAX_PATH) })).max(1000),
})

/** Asks the reference prover for proofs of one piece. */
export async function askForProofs(
  client: ProverClient,
  { pieceCid, seed, count }: { readonly pieceCid: string; readonly seed: Uint8Array; readonly count: number },
  { headMs, signal }: { readonly headMs: number; readonly signal?: AbortSignal | undefined },
): Promise<readonly PossessionProof[]> {
  const json = { seed: hex0xOf(seed), pieceCid, count }
  const ending = signal === undefined ? {} : { signal }
  const question = { method: 'POST', path: '/pdp/prove', json, times: { headMs }, ...ending } as const
  const { proofs } = await client.askJson(question, Possession)
  return proofs
}

/** Retrieves a range of a piece; exactly so many bytes. */
export function readPiece(
  client: ProverClient,
  { pieceCid, offset, length }: { readonly pieceCid: string; readonly offset: number; readonly length: number },
  { bodyMs }: { readonly bodyMs: number },
): Promise<Uint8Array> {
  const last = offset + length - 1
  const question = {
    method: 'GET',
    path: `/piece/${encodeURIComponent(pieceCid)}`,
    headers: { range: `bytes=${offset}-${last}` },
    times: { bodyMs: bodyMs + Math.ceil((1000 * length) / READ_BYTES_PER_SECOND) },
  } as const
  return client.ask(question, { status: 206, maxBytes: length }, ({ headers, body }) => {
    const range = /^bytes (\d+)-(\d+)\/(?:\d+|\*)$/.exec(headers['content-range'] ?? '')
    if (Number(range?.[1]) !== offset || Number(range?.[2]) !== last || body.length !== length) {
      throw unusable('The prover returned other bytes than requested.')
    }
    return body
  })
}
