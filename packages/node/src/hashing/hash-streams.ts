import {
  type CarFault,
  type CarIndex,
  CarIndexer,
  DagHasher,
  IMPORT_PROFILES,
  type ImportedDag,
  type ImportProfileName,
} from '@lade/core/dag'
import { blake2b256, blake3 } from './blake.ts'
import { blockHashOf } from './block-hash.ts'
import { ChunkHasher } from './chunk-digests.ts'
import type { DigestFunction } from './digest-function.ts'
import { hexOf } from './hex.ts'
import type { HashedPiece } from './native-piece-hasher.ts'
import { pieceHashing } from './piece-hashing.ts'
import { sha256Hex } from './sha256.ts'
import { type BodySha256, type Sha256Hashing, sha256Hashing, sha256HashingWith } from './sha256-hashing.ts'

/** What a stream of each kind is told, beside the length of the body. A new kind begins here. */
interface StreamInputs {
  readonly 'sha2-256': object
  /** The digests of chunks by which a blob is verified in part. */
  readonly chunks: object
  readonly piece: {
    /** True to learn the roots of sections, too. @default false */
    readonly withSections?: boolean
  }
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

/** What a stream of each kind finds out: plain data. Digests are lower-case hex. */
interface StreamResults {
  readonly 'sha2-256': string
  /** 32 bytes a chunk. */
  readonly chunks: Uint8Array
  readonly piece: HashedPiece
  readonly blake3: string
  readonly 'blake2b-256': string
  readonly unixfs: readonly ImportedDag[]
  readonly car: CarIndex | CarFault
}

type StreamKind = keyof StreamInputs

/** One computation over a body, as plain data that can cross to another thread. */
export type StreamSpec<Kind extends StreamKind = StreamKind> = {
  [K in Kind]: { readonly kind: K } & StreamInputs[K]
}[Kind]

/** The outcome of a stream. */
export type StreamResult<Kind extends StreamKind = StreamKind> = {
  [K in Kind]: { readonly kind: K; readonly value: StreamResults[K] }
}[Kind]

/** One computation over one body. */
interface HashStream<Value> {
  /** Takes the next bytes, which may lie in shared memory. They are read before this returns, or when sha2-256 is run. */
  update(block: Uint8Array): void
  /** Says that no bytes follow; what sha2-256 has put off is done between this and `finish`. */
  end?(): void
  finish(): Value
  /** Forgets a body that is not read to its end; absent where that gives no memory back. */
  readonly discard?: (() => void) | undefined
  /** About how much memory it takes now; absent where that is next to nothing. */
  readonly heldBytes?: (() => number) | undefined
}

/** All computations over one body that run on one thread. */
export interface BodyStreams {
  /** Takes the next bytes, which may lie in shared memory. They are read before this returns, or throws. */
  update(block: Uint8Array): void
  /** Ends the body. */
  finish(): StreamResult[]
  /** Forgets a body that is not read to its end. */
  discard(): void
  /** About how much memory they take now. */
  heldBytes(): number
}

/** What a stream is told about the body, whatever its kind. */
interface StreamBody {
  /** Undefined where the end of the body tells. */
  readonly sizeBytes: number | undefined
  readonly sha256: BodySha256
}

interface StreamMaker<Kind extends StreamKind> {
  /** Its time for a byte, with sha2-256 as 1. Only used to give threads equal shares. */
  readonly weight: number
  /** True when it is a sha2-256 stream, and costs less beside another one. */
  readonly isStream?: true
  create(spec: StreamSpec<Kind>, body: StreamBody): HashStream<StreamResults[Kind]>
  /** The shorter way, where there is one, for bytes that are all there. */
  whole?(bytes: Uint8Array): StreamResults[Kind]
}

const AT_ONCE = sha256HashingWith(undefined)
/** The weight of one of several streams that are hashed in pairs. */
const PAIRED_STREAM_WEIGHT = 0.55

const STREAMS: { readonly [Kind in StreamKind]: StreamMaker<Kind> } = {
  'sha2-256': { weight: 1, isStream: true, create: (_, body) => sha256Stream(body.sha256), whole: sha256Hex },
  chunks: { weight: 1, isStream: true, create: (_, body) => new ChunkHasher(body) },
  piece: {
    weight: 2,
    create: ({ withSections }) => pieceHashing.create({ withSections }),
    whole: (bytes) => pieceHashing.whole(bytes),
  },
  blake3: { weight: 3, create: () => hexStream(blake3), whole: (bytes) => hexOf(blake3.of(bytes)) },
  'blake2b-256': { weight: 2.5, create: () => hexStream(blake2b256), whole: (bytes) => hexOf(blake2b256.of(bytes)) },
  unixfs: {
    weight: 1,
    isStream: true,
    create: ({ profiles }, { sizeBytes, sha256 }) =>
      new DagHasher({ profiles: profiles.map((name) => IMPORT_PROFILES[name]), sizeBytes, sha256 }),
  },
  car: {
    weight: 1.2,
    create: ({ root }, { sizeBytes }) => carStream(new CarIndexer({ root, sizeBytes, hashes: blockHashOf })),
  },
}

/** Starts streams over a body of `sizeBytes`, or of unknown length. */
export function openStreams(
  specs: readonly StreamSpec[],
  {
    sizeBytes,
    hashing = sha256Hashing,
  }: { readonly sizeBytes: number | undefined; readonly hashing?: Sha256Hashing | undefined },
): BodyStreams {
  const sha256 = hashing.forBody()
  const streams = specs.map((spec) => createStream(spec, { sizeBytes, sha256 }))
  return {
    update(block) {
      try {
        for (const stream of streams) stream.update(block)
      } finally {
        sha256.run()
      }
    },
    finish() {
      for (const stream of streams) stream.end?.()
      // The leaf of an empty body has ended without any block.
      sha256.run()
      return streams.map((stream) => stream.finish())
    },
    discard() {
      for (const stream of streams) stream.discard?.()
    },
    heldBytes: () => streams.reduce((sum, stream) => sum + (stream.heldBytes?.() ?? 0), 0),
  }
}

/** Runs a stream over bytes that are all there, and few: with many, several streams are faster together. */
export function runStream<Kind extends StreamKind>(spec: StreamSpec<Kind>, bytes: Uint8Array): StreamResult<Kind> {
  const { whole } = STREAMS[spec.kind]
  if (whole !== undefined) return { kind: spec.kind, value: whole(bytes) }
  const stream = createStream(spec, { sizeBytes: bytes.length, sha256: AT_ONCE.forBody() })
  stream.update(bytes)
  return stream.finish()
}

/**
 * How much work streams of one body are for each byte on one thread, with sha2-256 as 1.
 *
 * Less than each of them alone: sha2-256 streams are hashed in pairs, where that is native.
 */
export function weightTogether(
  specs: readonly StreamSpec[],
  { isNative }: Pick<Sha256Hashing, 'isNative'> = sha256Hashing,
): number {
  const hasPairs = isNative && specs.filter(({ kind }) => STREAMS[kind].isStream).length > 1
  const weights = specs.map(({ kind }) =>
    hasPairs && STREAMS[kind].isStream ? PAIRED_STREAM_WEIGHT : STREAMS[kind].weight,
  )
  return weights.reduce((sum, weight) => sum + weight, 0)
}

function createStream<Kind extends StreamKind>(
  spec: StreamSpec<Kind>,
  body: StreamBody,
): HashStream<StreamResult<Kind>> {
  const stream = STREAMS[spec.kind].create(spec, body)
  return {
    update: (block) => stream.update(block),
    end: () => stream.end?.(),
    finish: () => ({ kind: spec.kind, value: stream.finish() }),
    discard: stream.discard,
    heldBytes: stream.heldBytes,
  }
}

function carStream(indexer: CarIndexer): HashStream<CarIndex | CarFault> {
  return {
    update: (block) => indexer.update(block),
    finish: () => indexer.finish(),
    discard: () => indexer.discard(),
    heldBytes: () => indexer.heldBytes,
  }
}

function sha256Stream(hash: BodySha256): HashStream<string> {
  const stream = hash.stream?.()
  if (stream === undefined) return hexStream(hash)
  return {
    update: (block) => stream.update(block),
    finish: () => {
      const digest = new Uint8Array(32)
      stream.end(new Uint8Array(), digest)
      hash.run()
      return hexOf(digest)
    },
  }
}

function hexStream(hash: DigestFunction): HashStream<string> {
  const running = hash.create()
  return {
    update: (block) => running.update(block),
    finish: () => hexOf(running.digest()),
  }
}
