import { Aggregate, type InclusionProof, type PieceCommitment, pieceCidV2, pieceHeight } from '@lade/core/piece'
import { hex0xOf, hexOf } from '@lade/node/hashing/hex'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import type { PieceRecord, RecordStore } from '../records/record-store.ts'
import { commitmentOf } from './commitment-of.ts'

/** That a file is in an aggregate, for `verifyInclusion` of core. */
export interface Inclusion {
  readonly aggregate: PieceCommitment
  /** Of the file by itself. */
  readonly piece: PieceCommitment
  readonly proof: InclusionProof
}

/** An inclusion as it is given to others; bytes are hex with `0x`. */
export interface InclusionJson {
  /** Of the file by itself. */
  readonly pieceCid: string
  readonly segment: { readonly position: number; readonly siblings: readonly string[] }
  readonly entry: { readonly position: number; readonly siblings: readonly string[] }
}

export function inclusionToJson({ piece, proof: { segment, entry } }: Inclusion): InclusionJson {
  return {
    pieceCid: pieceCidV2(piece),
    segment: { position: segment.position, siblings: segment.siblings.map(hex0xOf) },
    entry: { position: entry.position, siblings: entry.siblings.map(hex0xOf) },
  }
}

/**
 * Proves that what lies at a place of an aggregate is in it and in its index. No byte is read: the tree is folded again from the
 * commitments of the members, also of those whose bytes are gone.
 *
 * @param request.paddedOffsetBytes - the place, as the deal of the file has it.
 * @returns undefined when the piece is no aggregate, or has nothing there.
 * @throws {TypeError} when the members do not make up the aggregate.
 *
 * @example
 * const inclusion = await inclusionOf(records, { piece, paddedOffsetBytes: 1024 })
 * inclusion !== undefined && verifyInclusion(inclusion) // true
 */
export async function inclusionOf(
  records: Pick<RecordStore, 'placements'>,
  { piece, paddedOffsetBytes }: { readonly piece: PieceRecord; readonly paddedOffsetBytes: number },
): Promise<Inclusion | undefined> {
  if (piece.source.kind !== 'aggregate') return undefined
  const members = await records.placements.membersOf(piece.id)
  const place = members.findIndex((member) => member.paddedOffsetBytes === paddedOffsetBytes)
  const commitments = members.map(commitmentOf)
  const member = commitments[place]
  if (member === undefined) return undefined
  const height = pieceHeight(piece.sizeBytes)
  const aggregate = new Aggregate(commitments, { height, hashPairs: pieceHashing.hashPairs })
  if (hexOf(aggregate.commitment.root) !== piece.pieceRoot) {
    throw new TypeError(`the members of piece ${piece.id} do not make up the aggregate`)
  }
  return { aggregate: aggregate.commitment, piece: member, proof: aggregate.proveInclusion(place) }
}
