import type { CarFault, CarIndex, ImportedDag } from '../dag/dag.ts'
import type { Cid } from './content-id.ts'

/** What one pass over some bytes learned about them: enough to check them against any id, and to keep. */
export interface ContentDigests {
  readonly sizeBytes: number
  /** 64 lower-case hex digits. */
  readonly sha256: string
  /** The root of the piece tree (CommP), 64 lower-case hex digits. */
  readonly pieceRoot: string
  /** The roots of the piece tree's subtrees of 128 MiB, 32 bytes each, in order; empty when there is only one. */
  readonly pieceSubtreeRoots: Uint8Array
  /** 64 lower-case hex digits; undefined when it was not asked for. */
  readonly blake3: string | undefined
  /** 64 lower-case hex digits; undefined when it was not asked for. */
  readonly blake2b256: string | undefined
  /** The bytes as a UnixFS file under each import profile that was asked for. */
  readonly dags: readonly ImportedDag[]
  /** The bytes as a CAR; undefined when that was not asked for. */
  readonly car: CarIndex | CarFault | undefined
}

/**
 * What is known of bytes that need not have been read in one pass: those of a file that was put together from parts have a
 * sha2-256 of their own that nobody has computed.
 */
export type KnownDigests = Omit<ContentDigests, 'sha256'> & { readonly sha256: string | undefined }

/** What has to be computed over some bytes, beside sha2-256 and the piece commitment, to check them against an id. */
export interface DigestsWanted {
  readonly blake3: boolean
  readonly blake2b256: boolean
  readonly profiles: readonly ImportedDag['profile'][]
  /** The root whose DAG the bytes may hold as a CAR. */
  readonly carRoot: Cid | undefined
}
