import { hex0xOf } from '@lade/node/hashing/hex'
import type { PossessionProof } from '../proving/prover.ts'

/** A proof as it is given to others; bytes are hex with `0x`. */
export interface PossessionProofJson {
  readonly leafIndex: number
  readonly leaf: string
  readonly proof: readonly string[]
}

export function proofJson({ leafIndex, leaf, proof }: PossessionProof): PossessionProofJson {
  return { leafIndex, leaf: hex0xOf(leaf), proof: proof.map(hex0xOf) }
}
