import type { ContentId, KnownDigests } from '@lade/core/content'
import {
  DagLayout,
  foldLeaves,
  IMPORT_PROFILES,
  type ImportedDag,
  type ImportProfile,
  type ImportProfileName,
  profilesThatCanMatch,
} from '@lade/core/dag'
import { joinPieces } from '@lade/core/piece'
import { hexOf } from '@lade/node/hashing/hex'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import { sha256 } from '@lade/node/hashing/sha256'
import type { FileRecord, KeptFacts } from '../records/record-store.ts'

const DIGEST_BYTES = 32

/** A part, with what is kept of its bytes. */
export interface PartFacts extends KeptFacts {
  readonly file: FileRecord
}

/**
 * What is known of the bytes of these parts, one behind the other, from what was kept of each: no byte is read.
 *
 * Their piece is joined from the subtrees of the parts. For a dag-pb id the DAG is folded under every import profile of
 * which the leaves of all parts are known. Their sha2-256 is known when there is one part.
 *
 * @param parts - all but the last of a size that is a multiple of `PART_BYTES`.
 * @returns undefined when this is not enough to check the id by.
 */
export function foldParts(id: ContentId, parts: readonly PartFacts[]): KnownDigests | undefined {
  const pieces = parts.map(({ file, pieceSubtreeRoots }) => ({
    root: Buffer.from(file.pieceRoot ?? '', 'hex'),
    rawSizeBytes: file.sizeBytes,
    subtreeRoots: pieceSubtreeRoots,
  }))
  if (pieces.some(({ root }) => root.length === 0)) return undefined
  const [only] = parts
  const digest = parts.length === 1 ? only?.file.sha256 : undefined
  const dags = id.form === 'cid-dag-pb' ? foldDags(parts) : []
  const isEnough = dags.length > 0 || id.form.startsWith('piece-') || (id.sha256 !== undefined && digest != null)
  if (!isEnough) return undefined

  const { root, rawSizeBytes, subtreeRoots } = joinPieces(pieces, { hashPairs: pieceHashing.hashPairs })
  return {
    sizeBytes: rawSizeBytes,
    sha256: digest ?? undefined,
    pieceRoot: hexOf(root),
    pieceSubtreeRoots: subtreeRoots,
    blake3: undefined,
    blake2b256: undefined,
    dags,
    car: undefined,
  }
}

function foldDags(parts: readonly PartFacts[]): ImportedDag[] {
  const sizeBytes = parts.reduce((sum, { file }) => sum + file.sizeBytes, 0)
  return profilesThatCanMatch({ sizeBytes }).flatMap((name) => {
    const profile = IMPORT_PROFILES[name]
    const leaves = parts.map((part) => leafDigestsOf(part, profile))
    const known = leaves.filter((digests) => digests !== undefined)
    return known.length < parts.length
      ? []
      : [foldLeaves(new DagLayout(profile, sizeBytes), Buffer.concat(known), sha256)]
  })
}

/** The digests of a part's leaves, as `profile` cuts them; other profiles may cut them alike. */
function leafDigestsOf({ file, imports }: PartFacts, { chunkBytes, leaves }: ImportProfile): Uint8Array | undefined {
  const kept = imports.find(({ profile }) => {
    const other = IMPORT_PROFILES[profile as ImportProfileName]
    return other.chunkBytes === chunkBytes && other.leaves === leaves
  })
  if (kept !== undefined) return kept.digests.subarray(0, DIGEST_BYTES * Math.ceil(file.sizeBytes / chunkBytes))
  // A raw leaf has the digest of its bytes.
  const isRawLeaf = leaves === 'raw' && file.sizeBytes <= chunkBytes && file.sha256 !== null
  return isRawLeaf ? Buffer.from(file.sha256, 'hex') : undefined
}
