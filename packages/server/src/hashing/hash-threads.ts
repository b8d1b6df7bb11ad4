import { availableParallelism } from 'node:os'
import type { PieceDigest } from '@lade/core/piece'
import { type ContentHasher, type ContentHashers, hashersHere } from './content-hasher.ts'
import { type BodyWanted, digestsFrom, lanesFor } from './content-lanes.ts'
import { LaneThread } from './lane-thread.ts'
import { type LaneSpec, weightTogether } from './lanes.ts'
import { type Sha256Hashing, sha256Hashing, sha256HashingWith } from './sha256-hashing.ts'

/** For a few blocks a thread gains nothing. */
const DEFAULT_MIN_BYTES = 4 * 1024 * 1024
/** A body has two big lanes; what more threads do is only worth having for several bodies at once. */
const DEFAULT_THREADS = 2

export interface HashThreadsOptions {
  /** How many threads. @default 2, or 1 where there is one processor */
  readonly threads?: number
  /** Bodies below this are hashed on the calling thread, unless they may be CARs. @default 4_194_304 */
  readonly minBytes?: number
  /** Leaves the piece commitment of these bodies out, and answers 32 zeros. Only to measure what it costs. @default false */
  readonly withoutPieces?: boolean
  /** Hashes sha2-256 by node:crypto even where the addon was built. Only to measure it and to test both. @default false */
  readonly withoutAddon?: boolean
}

/** Hashes big bodies beside the event loop. */
export interface HashThreads {
  readonly hashers: ContentHashers
  /** Ends the threads. Bodies that are being hashed fail, and so do later ones. */
  close(): Promise<void>
}

/**
 * Starts threads that hash all bodies from `minBytes` on.
 *
 * The lanes of a body are spread over the threads, each to the one that would then have the least to do, so that a body
 * takes as long as its longest lane where there are threads for that. Blocks must lie in shared memory to cross without a
 * copy; others are copied. The threads do not keep the process alive while nothing is hashed.
 *
 * When a thread dies, the bodies that it was hashing fail, and another one takes its place.
 *
 * @example
 * const threads = startHashThreads()
 * const hasher = threads.hashers(wanted, sizeBytes)
 * for await (const block of body) await hasher.update(block)
 * await hasher.digests() // { sizeBytes, sha256, pieceRoot, … }
 */
export function startHashThreads({
  threads: count = Math.min(DEFAULT_THREADS, availableParallelism()),
  minBytes = DEFAULT_MIN_BYTES,
  withoutPieces = false,
  withoutAddon = false,
}: HashThreadsOptions = {}): HashThreads {
  const hashing = withoutAddon ? sha256HashingWith(undefined) : sha256Hashing
  const hashersBelow = hashersHere(hashing)
  const threads = Array.from({ length: count }, () => new LaneThread())
  let lastBody = 0
  let isClosed = false

  const reviveThreads = (): void => {
    for (const [index, thread] of threads.entries()) if (thread.hasEnded) threads[index] = new LaneThread()
  }
  return {
    hashers(wanted, sizeBytes) {
      // Reading the links of a block that was made to be slow to read can take a second.
      if (sizeBytes < minBytes && wanted.carRoot === undefined) return hashersBelow(wanted, sizeBytes)
      if (!isClosed) reviveThreads()
      lastBody += 1
      return hashOn(threads, lastBody, wanted, { sizeBytes, withoutPieces, hashing })
    },
    async close() {
      isClosed = true
      await Promise.all(threads.map((thread) => thread.close()))
    },
  }
}

/** The lanes of one body on one thread. */
interface Share {
  readonly thread: LaneThread
  readonly lanes: readonly LaneSpec[]
  readonly weight: number
}

interface BodyOptions {
  readonly sizeBytes: number
  readonly withoutPieces: boolean
  readonly hashing: Sha256Hashing
}

function hashOn(
  threads: readonly LaneThread[],
  body: number,
  wanted: BodyWanted,
  { sizeBytes, withoutPieces, hashing }: BodyOptions,
): ContentHasher {
  const lanes = lanesFor(wanted, sizeBytes).filter(({ kind }) => kind !== 'piece' || !withoutPieces)
  const withoutAddon = !hashing.isNative
  const shares = spread(lanes, threads, hashing)
  for (const { thread, weight } of shares) thread.load += weight
  const opened = Promise.all(
    shares.map(({ thread, lanes }) => thread.ask({ call: 'open', body, lanes, sizeBytes, withoutAddon })),
  )
  // The first block tells of it.
  opened.catch(() => {})
  let isOpen = true
  const release = (): void => {
    isOpen = false
    for (const { thread, weight } of shares) thread.load -= weight
  }
  return {
    async update(block) {
      // When one thread fails, others may still be reading.
      const call = { call: 'block', body, block: readyToCross(block) } as const
      const outcomes = await Promise.allSettled(shares.map(({ thread }) => thread.ask(call)))
      await opened
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    },
    async digests() {
      if (!isOpen) throw new TypeError('this hasher has ended')
      release()
      const replies = await Promise.all(shares.map(({ thread }) => thread.ask({ call: 'close', body })))
      await opened
      const results = replies.flatMap(({ results = [] }) => results)
      if (withoutPieces) results.push({ kind: 'piece', value: noPiece(sizeBytes) })
      return digestsFrom(results, wanted, sizeBytes)
    },
    discard() {
      if (!isOpen) return
      release()
      // A thread that has ended has forgotten it, too.
      for (const { thread } of shares) thread.ask({ call: 'discard', body }).catch(() => {})
    },
  }
}

function noPiece(rawSizeBytes: number): PieceDigest {
  return { root: new Uint8Array(32), rawSizeBytes, subtreeRoots: new Uint8Array() }
}

/** A view of other than shared memory would cross with everything around it. */
function readyToCross(block: Uint8Array): Uint8Array {
  const isShared = block.buffer instanceof SharedArrayBuffer
  return isShared || block.length === block.buffer.byteLength ? block : new Uint8Array(block)
}

/** Gives each lane to the thread that then has the least to do, the heaviest lanes first. */
function spread(lanes: readonly LaneSpec[], threads: readonly LaneThread[], hashing: Sha256Hashing): Share[] {
  const weightOf = (lanes: readonly LaneSpec[]): number => weightTogether(lanes, hashing)
  const shares = threads.map((thread) => ({ thread, lanes: [] as LaneSpec[], weight: 0 }))
  for (const lane of lanes.toSorted((one, other) => weightOf([other]) - weightOf([one]))) {
    const loadWith = ({ thread, lanes }: Share): number => thread.load + weightOf([...lanes, lane])
    const share = shares.reduce((least, next) => (loadWith(next) < loadWith(least) ? next : least))
    share.lanes.push(lane)
    share.weight = weightOf(share.lanes)
  }
  return shares.filter(({ lanes }) => lanes.length > 0)
}
