import { base16 } from 'multiformats/bases/base16'
import type { CarIndex } from '../dag/car/car-index.ts'
import type { ImportProfileName } from '../dag/import-profile.ts'
import type { ImportedDag } from '../dag/imported-dag.ts'
import { profilesThatCanMatch } from '../dag/profiles-that-can-match.ts'
import { LadeError } from '../errors/lade-error.ts'
import type { DigestsWanted, KnownDigests } from './content-digests.ts'
import { type ContentId, MAX_BLOCK_BYTES } from './content-id.ts'
import { nameLike } from './content-names.ts'
import { BLAKE2B_256, BLAKE3 } from './multicodec.ts'

/** Bytes that have the id they were sent under, and what the check learned. */
export interface Verified {
  /**
   * How the id names them: as the bytes themselves, as one block of a DAG, as a UnixFS file by its root, or as a CAR that
   * holds the whole DAG under that root.
   */
  readonly as: 'bytes' | 'block' | 'file' | 'car'
  /** The file's blocks, under the import profile that gave the id; undefined unless `as` is `file`. */
  readonly dag: ImportedDag | undefined
  /** Where the blocks lie in the CAR; undefined unless `as` is `car`. */
  readonly car: CarIndex | undefined
}

/** What a sender says about bytes, beside their id. */
export interface SaidOfContent {
  /** True when they are a CAR, so that the id may be its root. @default false */
  readonly mayBeCar?: boolean | undefined
  /** The import profile that the id comes from; ignored for ids that are not dag-pb. @default any of them */
  readonly profile?: ImportProfileName | undefined
}

/**
 * What has to be computed over `sizeBytes` bytes so that `checkContent` can check them against `id`.
 *
 * @param sizeBytes - undefined for bytes whose number is known at their end: then what any number needs.
 */
export function digestsWanted(
  id: ContentId,
  sizeBytes: number | undefined,
  { mayBeCar = false, profile }: SaidOfContent = {},
): DigestsWanted {
  return {
    blake3: id.cid?.hash === BLAKE3,
    blake2b256: id.cid?.hash === BLAKE2B_256,
    profiles: id.form === 'cid-dag-pb' ? profilesThatCanMatch({ sizeBytes, only: profile }) : [],
    carRoot: mayBeCar && canBeRoot(id) ? id.cid : undefined,
  }
}

/** True for the ids that can be the root of a CAR: CIDs of blocks. */
export function canBeRoot({ form }: ContentId): boolean {
  return form === 'cid-raw' || form === 'cid-dag-pb' || form === 'cid-block'
}

/**
 * Checks what was computed over some bytes against the id that they were sent under.
 *
 * An opaque id names no bytes, so everything matches it. Bytes that have the id themselves are taken as that, also when
 * they are a CAR.
 *
 * @param digests - with at least what `digestsWanted` asked for; without the sha2-256 for a dag-pb or piece id.
 * @throws {LadeError} `cid_mismatch`, whose `actual` is the id of that form that the bytes have, or for a CAR the first
 *   block that is not what it says; `invalid_car` and `incomplete_dag` for other faults of a CAR.
 *
 * @example
 * checkContent(parseContentId('baga6ea4seaq…', sha256Hex), digests).as // 'bytes'
 */
export function checkContent(id: ContentId, digests: KnownDigests): Verified {
  const verified = plainly(id, digests)
  if (verified !== undefined) return verified
  const { car } = digests
  if (car === undefined) {
    throw new LadeError('cid_mismatch', { expected: id.text, actual: nameLike(id, digests) })
  }
  if (!('fault' in car)) return { as: 'car', dag: undefined, car }
  switch (car.fault) {
    case 'mismatch':
      throw new LadeError('cid_mismatch', { expected: car.expected, actual: car.actual })
    case 'incomplete':
      throw new LadeError('incomplete_dag', { root: id.text, missing: car.missing })
    case 'malformed':
      throw new LadeError('invalid_car', { reason: car.reason })
  }
}

/** How the id names the bytes as they are; undefined when it does not. */
function plainly(id: ContentId, digests: KnownDigests): Verified | undefined {
  const { sha256, pieceRoot, sizeBytes } = digests
  if (id.maxBytes !== undefined && sizeBytes > id.maxBytes) return undefined
  const named = (as: 'bytes' | 'block'): Verified => ({ as, dag: undefined, car: undefined })
  switch (id.form) {
    case 'opaque':
      return named('bytes')
    case 'cid-dag-pb':
      return asDagPb(id, digests)
    case 'piece-v1':
      return id.key === `piece-v1:${pieceRoot}` ? named('bytes') : undefined
    case 'piece-v2':
      return id.key === `piece:${pieceRoot}:${sizeBytes}` ? named('bytes') : undefined
    case 'sha2-256-hex':
    case 'legacy':
    case 'identity':
      return id.sha256 === sha256 ? named('bytes') : undefined
    case 'cid-raw':
    case 'cid-block': {
      const keys = [`sha256:${sha256}`, `blake3:${digests.blake3}`, `blake2b-256:${digests.blake2b256}`]
      return keys.includes(id.key) ? named(id.form === 'cid-raw' ? 'bytes' : 'block') : undefined
    }
  }
}

function asDagPb(id: ContentId, { dags, sha256, sizeBytes }: KnownDigests): Verified | undefined {
  const root = base16.baseEncode(id.cid?.digest ?? new Uint8Array())
  const dag = dags.find((each) => each.root === root && each.rootCodec === 'dag-pb')
  if (dag !== undefined) return { as: 'file', dag, car: undefined }
  // The digest of a single block is its root's; what is bigger is no block, and must not become one by its digest.
  if (sha256 !== root || sizeBytes > MAX_BLOCK_BYTES) return undefined
  return { as: 'block', dag: undefined, car: undefined }
}
