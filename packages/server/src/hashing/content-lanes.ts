import type { ContentDigests, DigestsWanted } from '@lade/core/content'
import { IMPORT_PROFILES, type ImportedDag, type ImportProfileName } from '@lade/core/dag'
import type { PieceDigest } from '@lade/core/piece'
import { create as createMultihash } from 'multiformats/hashes/digest'
import { hexOf } from './hex.ts'
import type { LaneResult, LaneSpec } from './lanes.ts'

const ALWAYS: readonly LaneSpec[] = [{ kind: 'sha2-256' }, { kind: 'piece' }]

/** The lanes that find out what is wanted, sha2-256 and the piece commitment always among them. */
export function lanesFor({ blake3, blake2b256, profiles, carRoot }: DigestsWanted): readonly LaneSpec[] {
  const lanes: LaneSpec[] = [...ALWAYS]
  if (blake3) lanes.push({ kind: 'blake3' })
  if (blake2b256) lanes.push({ kind: 'blake2b-256' })
  for (const sharing of groupByLeaves(profiles)) lanes.push({ kind: 'unixfs', profiles: sharing })
  if (carRoot !== undefined) {
    const { version, codec, hash, digest } = carRoot
    const { bytes: multihash } = createMultihash(Number(hash), digest)
    lanes.push({ kind: 'car', root: { version, codec: Number(codec), multihash } })
  }
  return lanes
}

/**
 * Puts together what the lanes of `lanesFor(wanted)` found out, whose order does not matter.
 *
 * @throws {TypeError} when sha2-256 or the piece commitment is not among it, or the body had another length.
 */
export function digestsFrom(results: readonly LaneResult[], wanted: DigestsWanted, sizeBytes: number): ContentDigests {
  let sha256: string | undefined
  let piece: PieceDigest | undefined
  let blake3: string | undefined
  let blake2b256: string | undefined
  let car: ContentDigests['car']
  const dags: ImportedDag[] = []
  for (const { kind, value } of results) {
    switch (kind) {
      case 'sha2-256':
        sha256 = value
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
  if (sha256 === undefined || piece === undefined) throw new TypeError('a lane that every body has is missing')
  if (piece.rawSizeBytes !== sizeBytes)
    throw new TypeError(`${piece.rawSizeBytes} bytes came of a body of ${sizeBytes}`)
  const placeOf = ({ profile }: ImportedDag): number => wanted.profiles.indexOf(profile)
  return {
    sizeBytes,
    sha256,
    pieceRoot: hexOf(piece.root),
    pieceSubtreeRoots: piece.subtreeRoots,
    blake3,
    blake2b256,
    dags: dags.sort((one, other) => placeOf(one) - placeOf(other)),
    car,
  }
}

/** Profiles that share their leaves share the lane that hashes them. */
function groupByLeaves(profiles: readonly ImportProfileName[]): Iterable<readonly ImportProfileName[]> {
  const groups = Map.groupBy(profiles, (name) => {
    const { chunkBytes, leaves } = IMPORT_PROFILES[name]
    return `${chunkBytes} ${leaves}`
  })
  return groups.values()
}
