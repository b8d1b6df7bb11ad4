import { hexOf } from '@lade/node/hashing/hex'
import type { PossessionProof } from '../proving/prover.ts'

/** A proof as it is given to others; bytes are hex with `0x`. */
export interface PossessionProofJson {
  readonly leafIndex: number
  readonly leaf: string
  readonly proof: readonly string[]
}

export function proofJson({ leafIndex, leaf, proof }: PossessionProof): PossessionProofJson {
  return { leafIndex, leaf: hex(leaf), proof: proof.map(hex) }
}

/**
 * @example
 * hex(Uint8Array.of(1, 255)) // '0x01ff'
 */
export function hex(bytes: Uint8Array): string {
  return `0x${hexOf(bytes)}`
}
