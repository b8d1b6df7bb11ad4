import type { ContentDigests, DigestsWanted } from '@lade/core/content'
import { IMPORT_PROFILES, type ImportedDag, type ImportProfileName, profilesThatCanMatch } from '@lade/core/dag'
import { create as createMultihash } from 'multiformats/hashes/digest'
import { CHUNK_BYTES, CHUNK_DIGEST_BYTES, chunkCount } from './chunk-digests.ts'
import type { StreamResult, StreamSpec } from './hash-streams.ts'
import { hexOf } from './hex.ts'
import type { HashedPiece } from './native-piece-hasher.ts'

/** What is computed over a body: what its id needs, and what it is stored with. */
export interface BodyWanted extends DigestsWanted {
  /** True for a body that becomes a blob, which is verified by its chunks when it is read. @default false */
  readonly chunks?: boolean
  /** True to learn the roots of sections of the piece, which proofs of possession are made from. @default false */
  readonly pieceSections?: boolean
}

/** What one pass over a body found out. */
export interface BodyDigests extends ContentDigests {
  /** The sha2-256 of each chunk of 1 MiB, 32 bytes each; absent unless it was asked for, and for a body of one chunk. */
  readonly chunkDigests?: Uint8Array
  /** The nodes of height 12 of the piece tree, 32 bytes each; absent unless asked for, and where the native hash is missing. */
  readonly pieceSectionRoots?: Uint8Array
}

/**
 * The streams that find out what is wanted, sha2-256 and the piece commitment always among them.
 *
 * @param sizeBytes - the length of the body, undefined where its end tells: then all that any length needs.
 */
export function streamsFor(wanted: BodyWanted, sizeBytes: number | undefined): readonly StreamSpec[] {
  const { blake3, blake2b256, profiles, carRoot } = wanted
  const piece: StreamSpec = wanted.pieceSections ? { kind: 'piece', withSections: true } : { kind: 'piece' }
  const streams: StreamSpec[] = [{ kind: 'sha2-256' }, piece]
  if (needsChunks(wanted, sizeBytes) && !profiles.some(hasChunkLeaves)) streams.push({ kind: 'chunks' })
  if (blake3) streams.push({ kind: 'blake3' })
  if (blake2b256) streams.push({ kind: 'blake2b-256' })
  for (const sharing of groupByLeaves(profiles)) streams.push({ kind: 'unixfs', profiles: sharing })
  if (carRoot !== undefined) {
    const { version, codec, hash, digest } = carRoot
    const { bytes: multihash } = createMultihash(Number(hash), digest)
    streams.push({ kind: 'car', root: { version, codec: Number(codec), multihash } })
  }
  return streams
}

/**
 * Puts together what the streams of `streamsFor(wanted)` found out, whose order does not matter.
 *
 * Of a body of unknown length, DAGs that are the same for its length are one, as if the length had been known.
 *
 * @throws {TypeError} when sha2-256 or the piece commitment is not among it, or the body had another length than was announced.
 */
export function digestsFrom(
  results: readonly StreamResult[],
  wanted: BodyWanted,
  announcedBytes: number | undefined,
): BodyDigests {
  let sha256: string | undefined
  let piece: HashedPiece | undefined
  let blake3: string | undefined
  let blake2b256: string | undefined
  let car: ContentDigests['car']
  let chunkDigests: Uint8Array | undefined
  const dags: ImportedDag[] = []
  for (const { kind, value } of results) {
    switch (kind) {
      case 'sha2-256':
        sha256 = value
        break
      case 'chunks':
        chunkDigests = value
        break
      case 'piece':
        piece = value
        break
      case 'blake3':
        blake3 = value
        break
      case 'blake2b-256':
        blake2b256 = value
        break
      case 'unixfs':
        dags.push(...value)
        break
      case 'car':
        car = value
        break
    }
  }
  if (sha256 === undefined || piece === undefined) throw new TypeError('a stream that every body has is missing')
  const { rawSizeBytes: sizeBytes } = piece
  if (announcedBytes !== undefined && sizeBytes !== announcedBytes)
    throw new TypeError(`${sizeBytes} bytes came of a body of ${announcedBytes}`)
  if (needsChunks(wanted, sizeBytes)) chunkDigests ??= chunkLeavesOf(dags, sizeBytes)
  else chunkDigests = undefined
  const known = new Set(announcedBytes === undefined ? profilesThatCanMatch({ sizeBytes }) : wanted.profiles)
  const placeOf = ({ profile }: ImportedDag): number => wanted.profiles.indexOf(profile)
  return {
    sizeBytes,
    sha256,
    pieceRoot: hexOf(piece.root),
    pieceSubtreeRoots: piece.subtreeRoots,
    blake3,
    blake2b256,
    dags: dags.filter(({ profile }) => known.has(profile)).sort((one, other) => placeOf(one) - placeOf(other)),
    car,
    ...(chunkDigests !== undefined && { chunkDigests }),
    ...(piece.sectionRoots !== undefined && { pieceSectionRoots: piece.sectionRoots }),
  }
}

function needsChunks({ chunks = false }: BodyWanted, sizeBytes = Infinity): boolean {
  return chunks && sizeBytes > CHUNK_BYTES
}

/** True where the leaves of a profile are the chunks, so that nobody has to hash them twice. */
function hasChunkLeaves(name: ImportProfileName): boolean {
  const { chunkBytes, leaves } = IMPORT_PROFILES[name]
  return chunkBytes === CHUNK_BYTES && leaves === 'raw'
}

function chunkLeavesOf(dags: readonly ImportedDag[], sizeBytes: number): Uint8Array | undefined {
  const leaves = dags.find(({ profile }) => hasChunkLeaves(profile))?.digests
  return leaves?.slice(0, chunkCount(sizeBytes) * CHUNK_DIGEST_BYTES)
}

/** Profiles that share their leaves share the stream that hashes them. */
function groupByLeaves(profiles: readonly ImportProfileName[]): Iterable<readonly ImportProfileName[]> {
  const groups = Map.groupBy(profiles, (name) => {
    const { chunkBytes, leaves } = IMPORT_PROFILES[name]
    return `${chunkBytes} ${leaves}`
  })
  return groups.values()
}
