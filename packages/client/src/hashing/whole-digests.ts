import { aliasesOf, type ContentId, checkContent, dagCid, type KnownDigests, pieceCidOf } from '@lade/core/content'
import {
  DagLayout,
  foldLeaves,
  IMPORT_PROFILES,
  type ImportedDag,
  type ImportProfileName,
  type Sha256,
} from '@lade/core/dag/import'
import type { PieceDigest } from '@lade/core/piece'
import { bytesToHex } from '@noble/hashes/utils.js'
import { concatBytes } from '../concat-bytes.ts'
import { profilesFor } from './hash-wants.ts'
import { leafKindOf } from './leaves.ts'
import type { PartDigests } from './part-hasher.ts'
import type { PutCidForm } from './put-cid-form.ts'
import type { HexDigests } from './running-hash.ts'

/** What is known of a file once all of its bytes are hashed. */
export interface WholeDigests extends PartDigests {
  readonly hashes: HexDigests
}

/** The digests of parts that lie one behind the other, each but the last a whole multiple of 127 MiB. */
export async function joinParts(parts: readonly PartDigests[], hashes: HexDigests): Promise<WholeDigests> {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return { ...only, hashes }
  const kinds = Object.keys(only?.leaves ?? {}) as (keyof PartDigests['leaves'])[]
  const leaves = Object.fromEntries(
    kinds.map((kind) => [kind, concatBytes(parts.map((part) => required(part.leaves[kind])))]),
  )
  const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0)
  const pieces = parts.flatMap(({ piece }) => (piece === undefined ? [] : [piece]))
  return { sizeBytes, leaves, hashes, ...(pieces.length === 0 ? {} : { piece: await join(pieces) }) }
}

/** The content id of a whole file, or of a part of one, in a form for which it was hashed. */
export function nameOf(form: PutCidForm, digests: WholeDigests, sha256: Sha256): string {
  switch (form) {
    case 'unixfs':
      return unixfsCidOf(digests, sha256)
    case 'raw':
      return aliasesOf(required(digests.hashes.sha256)).cidV1
    case 'sha256':
      return required(digests.hashes.sha256)
    case 'piece':
      return pieceCidOf({ pieceRoot: bytesToHex(required(digests.piece).root), sizeBytes: digests.sizeBytes })
  }
}

/** The root under the profile `unixfs-v1-2025`; for up to one chunk of 1 MiB that is the raw CID. */
export function unixfsCidOf(digests: PartDigests, sha256: Sha256): string {
  return dagCid(dagOf('unixfs-v1-2025', digests, sha256))
}

/**
 * Checks what was hashed against an id.
 *
 * @param car - what the bytes are as a CAR, where the id may be its root.
 * @throws {LadeError} `cid_mismatch`; for a CAR also `invalid_car` and `incomplete_dag`.
 */
export function checkDigests(id: ContentId, digests: WholeDigests, sha256: Sha256, car?: KnownDigests['car']): void {
  const { sizeBytes, piece, hashes } = digests
  checkContent(id, {
    sizeBytes,
    sha256: hashes.sha256,
    blake3: hashes.blake3,
    blake2b256: hashes.blake2b256,
    // Ids that are no piece's are not compared with it.
    pieceRoot: piece === undefined ? '' : bytesToHex(piece.root),
    pieceSubtreeRoots: piece?.subtreeRoots ?? new Uint8Array(),
    dags: profilesFor(id, sizeBytes).map((profile) => dagOf(profile, digests, sha256)),
    car,
  })
}

function dagOf(profile: ImportProfileName, { leaves, sizeBytes }: PartDigests, sha256: Sha256): ImportedDag {
  const layout = new DagLayout(IMPORT_PROFILES[profile], sizeBytes)
  return foldLeaves(layout, required(leaves[leafKindOf(profile)]), sha256)
}

async function join(pieces: readonly PieceDigest[]): Promise<PieceDigest> {
  const { joinPieces } = await import('@lade/core/piece')
  return joinPieces(pieces)
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('the file was not hashed for this')
  return value
}
