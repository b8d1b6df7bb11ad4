import {
  type CarFault,
  type CarIndex,
  CarIndexer,
  DagHasher,
  IMPORT_PROFILES,
  type ImportedDag,
  type ImportProfileName,
} from '@lade/core/dag'
import type { PieceDigest } from '@lade/core/piece'
import { blake2b256, blake3 } from './blake.ts'
import { blockHashOf } from './block-hash.ts'
import type { DigestFunction } from './digest-function.ts'
import { hexOf } from './hex.ts'
import { pieceHashing } from './piece-hashing.ts'
import { sha256, sha256Hex } from './sha256.ts'

/** What a lane of each kind is told, beside the length of the body. A new kind begins here. */
interface LaneInputs {
  readonly 'sha2-256': object
  readonly piece: object
  readonly blake3: object
  readonly 'blake2b-256': object
  readonly unixfs: {
    /** Profiles that share their leaves: of one chunk size and one kind of leaf. */
    readonly profiles: readonly ImportProfileName[]
  }
  readonly car: {
    /** The root whose DAG the body may hold. */
    readonly root: { readonly version: 0 | 1; readonly codec: number; readonly multihash: Uint8Array }
  }
}

/** What a lane of each kind finds out: plain data. Digests are lower-case hex. */
interface LaneResults {
  readonly 'sha2-256': string
  readonly piece: PieceDigest
  readonly blake3: string
  readonly 'blake2b-256': string
  readonly unixfs: readonly ImportedDag[]
  readonly car: CarIndex | CarFault
}

type LaneKind = keyof LaneInputs

/** One computation over a body, as plain data that can cross to another thread. */
export type LaneSpec<Kind extends LaneKind = LaneKind> = { [K in Kind]: { readonly kind: K } & LaneInputs[K] }[Kind]

/** The outcome of a lane. */
export type LaneResult<Kind extends LaneKind = LaneKind> = {
  [K in Kind]: { readonly kind: K; readonly value: LaneResults[K] }
}[Kind]

/** One computation over one body. */
export interface Lane<Value> {
  /** Takes the next bytes, which may lie in shared memory. They are read before this returns. */
  update(block: Uint8Array): void
  /** Ends the body. */
  finish(): Value
}

interface LaneMaker<Kind extends LaneKind> {
  /** Its time for a byte, with sha2-256 as 1. Only used to give threads equal shares. */
  readonly weight: number
  create(spec: LaneSpec<Kind>, sizeBytes: number): Lane<LaneResults[Kind]>
  /** The shorter way, where there is one, for bytes that are all there. */
  whole?(bytes: Uint8Array): LaneResults[Kind]
}

const LANES: { readonly [Kind in LaneKind]: LaneMaker<Kind> } = {
  'sha2-256': { weight: 1, create: () => hexLane(sha256), whole: sha256Hex },
  piece: { weight: 2, create: () => pieceHashing.create(), whole: (bytes) => pieceHashing.whole(bytes) },
  blake3: { weight: 3, create: () => hexLane(blake3), whole: (bytes) => hexOf(blake3.of(bytes)) },
  'blake2b-256': { weight: 2.5, create: () => hexLane(blake2b256), whole: (bytes) => hexOf(blake2b256.of(bytes)) },
  unixfs: {
    weight: 1,
    create: ({ profiles }, sizeBytes) =>
      new DagHasher({ profiles: profiles.map((name) => IMPORT_PROFILES[name]), sizeBytes, sha256 }),
  },
  car: {
    weight: 1.2,
    create: ({ root }, sizeBytes) => new CarIndexer({ root, sizeBytes, hashes: blockHashOf }),
  },
}

/** Starts a lane over a body of `sizeBytes`. */
export function createLane<Kind extends LaneKind>(spec: LaneSpec<Kind>, sizeBytes: number): Lane<LaneResult<Kind>> {
  const lane = LANES[spec.kind].create(spec, sizeBytes)
  return {
    update: (block) => lane.update(block),
    finish: () => ({ kind: spec.kind, value: lane.finish() }),
  }
}

/** Runs a lane over bytes that are all there. */
export function runLane<Kind extends LaneKind>(spec: LaneSpec<Kind>, bytes: Uint8Array): LaneResult<Kind> {
  const { create, whole } = LANES[spec.kind]
  if (whole !== undefined) return { kind: spec.kind, value: whole(bytes) }
  const lane = create(spec, bytes.length)
  lane.update(bytes)
  return { kind: spec.kind, value: lane.finish() }
}

/** How much work a lane is for each byte, with sha2-256 as 1. */
export function laneWeight({ kind }: LaneSpec): number {
  return LANES[kind].weight
}

function hexLane(hash: DigestFunction): Lane<string> {
  const running = hash.create()
  return {
    update: (block) => running.update(block),
    finish: () => hexOf(running.digest()),
  }
}
