import { type ContentId, digestsWanted, MAX_BLOCK_BYTES } from '@lade/core/content'
import type { ImportProfileName } from '@lade/core/dag/import'
import { type LeafKind, leafKindOf } from './leaves.ts'

/** What is to be computed over some bytes. */
export interface HashWants {
  readonly leaves: readonly LeafKind[]
  readonly sha256: boolean
  /** The sha2-256 of each part by itself, besides that of the whole. @default false */
  readonly partSha256?: boolean
  readonly blake3: boolean
  readonly blake2b256: boolean
  readonly piece: boolean
}

/** What both want, together. */
export function wantBoth(one: HashWants, other: HashWants): HashWants {
  return {
    leaves: [...new Set([...one.leaves, ...other.leaves])],
    sha256: one.sha256 || other.sha256,
    partSha256: one.partSha256 === true || other.partSha256 === true,
    blake3: one.blake3 || other.blake3,
    blake2b256: one.blake2b256 || other.blake2b256,
    piece: one.piece || other.piece,
  }
}

/**
 * What it takes to check bytes against an id.
 *
 * @param sizeBytes - undefined while nobody knows it.
 */
export function wantsFor(id: ContentId, sizeBytes: number | undefined): HashWants {
  const { blake3, blake2b256 } = digestsWanted(id, sizeBytes)
  const isDagPb = id.form === 'cid-dag-pb'
  const canBeBlock = sizeBytes === undefined || sizeBytes <= MAX_BLOCK_BYTES
  return {
    leaves: [...new Set(profilesFor(id, sizeBytes).map(leafKindOf))],
    sha256: id.sha256 !== undefined || (isDagPb && canBeBlock),
    blake3,
    blake2b256,
    piece: id.form === 'piece-v1' || id.form === 'piece-v2',
  }
}

/** The import profiles that can have made the id. */
export function profilesFor(id: ContentId, sizeBytes: number | undefined): readonly ImportProfileName[] {
  return digestsWanted(id, sizeBytes).profiles
}
