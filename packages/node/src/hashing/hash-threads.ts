import { availableParallelism } from 'node:os'
import type { PieceDigest } from '@lade/core/piece'
import type { BodyBill } from '../budget/body-bill.ts'
import { TurnsOfBodies } from '../budget/body-turns.ts'
import type { WorkBudget } from '../budget/work-budget.ts'
import { collectSoon } from '../memory/collect-when-quiet.ts'
import { type ContentHasher, type ContentHashers, hashersHere } from './content-hasher.ts'
import { type BodyWanted, digestsFrom, streamsFor } from './content-streams.ts'
import type { HashAnswer, HashCall, OpenBody } from './hash-calls.ts'
import { type StreamSpec, weightTogether } from './hash-streams.ts'
import { HashThread } from './hash-thread.ts'
import { HeldMemory, type Holder } from './held-memory.ts'
import { type Sha256Hashing, sha256Hashing, sha256HashingWith } from './sha256-hashing.ts'

/** Below this a call to a thread takes as long as the hashing. From here on, hashing here would hold up everybody's requests. */
const DEFAULT_MIN_BYTES = 256 * 1024
/** A body has two big streams; what more threads do is only worth having for several bodies at once. */
const DEFAULT_THREADS = 2
/** Of a body that comes in one block. */
const ONE_BLOCK_BYTES = 1024 * 1024
/** Blocks that a thread has at a time: enough that it is never idle while this thread is busy, and done within about 20 ms. */
const CALLS = 6
/** A block of a CAR can take a third of a second. */
/** A thread makes few objects, and none that last. */
const LIMITS = { maxYoungGenerationSizeMb: 4 }
const CAR_CALLS = 1
/** A block of 50,000 links is so many objects that V8 takes twice as much for them otherwise. No block needs more than half of this. */
const CAR_LIMITS = { maxYoungGenerationSizeMb: 6, maxOldGenerationSizeMb: 256 }
/** A byte of a CAR pays for so many times what others pay for: 160 ms of processor time a MiB, which CARs of the smallest blocks need. */
const CAR_PAYS = 16
/** What the indexes of several CARs that are being read may take together; one of as many links as a CAR may have takes about 75 MiB. */
const CAR_MEMORY_BYTES = 40 * 1024 * 1024
/** CARs that are read at a time. One thread reads their blocks one after the other, so more CARs would only take memory. */
const CARS_AT_ONCE = 6
const CARS_OF_PRINCIPAL = 3
/** Threads that nobody has used for as long end: each takes 15 MiB and more, and starts in 50 ms. */
const IDLE_MS = 30_000
/** Why calls of a discarded body are cut. */
const DISCARDED = new Error('This body is discarded.')
const NO_BUDGET: HashThreadsBudget = { rank: () => 0, heldBack: () => {} }

type HashThreadsBudget = Pick<WorkBudget, 'rank' | 'heldBack'>

export interface HashThreadsOptions {
  /** Knows who has used how much: calls of whoever has the least go first. @default all are equal */
  readonly budget?: HashThreadsBudget
  /** How many threads. @default 2, or 1 where there is one processor */
  readonly threads?: number
  /** Bodies below this are hashed on the calling thread, unless they may be CARs. @default 262_144 */
  readonly minBytes?: number
  /** How long threads without a body go on. @default 30_000 */
  readonly idleMs?: number
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
 * Hashes all bodies from `minBytes` on by threads, which start with the first one, and CARs by one more, which starts with the first CAR. When
 * there has been no body for half a minute, the threads end, and the next body starts others.
 *
 * The blocks and links of CARs are read on a thread of their own, so that only other CARs wait for a block that is slow to read. The other
 * streams of a body are spread over the threads, each to the one that would then have the least to do, so that a body takes as long as its
 * longest stream where there are threads for that. Blocks must lie in shared memory to cross without a copy; others are copied. The threads
 * do not keep the process alive while nothing is hashed.
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
  budget = NO_BUDGET,
  threads: count = Math.min(DEFAULT_THREADS, availableParallelism()),
  minBytes = DEFAULT_MIN_BYTES,
  idleMs = IDLE_MS,
  withoutPieces = false,
  withoutAddon = false,
}: HashThreadsOptions = {}): HashThreads {
  const hashing = withoutAddon ? sha256HashingWith(undefined) : sha256Hashing
  const hashersBelow = hashersHere(hashing)
  const start = (): HashThread => new HashThread({ budget, calls: CALLS, resourceLimits: LIMITS })
  const threads: HashThread[] = []
  const carMemory = new HeldMemory(CAR_MEMORY_BYTES)
  const carTurns = new TurnsOfBodies({
    work: 'hash',
    budget,
    slots: CARS_AT_ONCE,
    slotsPerPrincipal: CARS_OF_PRINCIPAL,
  })
  let carThread: HashThread | undefined
  let lastBody = 0
  let openBodies = 0
  let idle: NodeJS.Timeout | undefined
  let isClosed = false

  const startThreads = (): void => {
    for (let index = 0; index < count; index += 1) if (threads[index]?.hasEnded ?? true) threads[index] = start()
    if (carThread?.hasEnded) carThread = undefined
  }
  const endThreads = async (): Promise<void> => {
    await Promise.all([...threads, carThread].map((thread) => thread?.close()))
  }
  const bodyIsOver = (): void => {
    openBodies -= 1
    // What a closed thread does not answer fails; nothing is asked of it here.
    if (openBodies === 0) idle = setTimeout(() => void endThreads().then(collectSoon), idleMs).unref()
  }
  return {
    hashers(wanted, sizeBytes, bill) {
      // Reading the links of a block that was made to be slow to read can take a third of a second.
      const isCar = wanted.carRoot !== undefined
      if (sizeBytes !== undefined && sizeBytes < minBytes && !isCar) return hashersBelow(wanted, sizeBytes, bill)
      if (!isClosed) {
        startThreads()
        if (isCar) carThread ??= new HashThread({ budget, calls: CAR_CALLS, resourceLimits: CAR_LIMITS })
      }
      lastBody += 1
      openBodies += 1
      clearTimeout(idle)
      return hashOn({ threads, carThread, carMemory, carTurns }, lastBody, wanted, {
        sizeBytes,
        withoutPieces,
        hashing,
        bill,
        onOver: bodyIsOver,
      })
    },
    async close() {
      isClosed = true
      clearTimeout(idle)
      await endThreads()
    },
  }
}

/** The streams of one body on one thread. */
interface Share {
  readonly thread: HashThread
  readonly streams: readonly StreamSpec[]
  readonly weight: number
}

interface Threads {
  readonly threads: readonly HashThread[]
  /** For CARs alone. */
  readonly carThread: HashThread | undefined
  readonly carMemory: HeldMemory
  readonly carTurns: TurnsOfBodies
}

interface BodyOptions {
  readonly sizeBytes: number | undefined
  readonly withoutPieces: boolean
  readonly hashing: Sha256Hashing
  readonly bill: BodyBill | undefined
  /** Called once, when nothing more is asked of the threads for the body. */
  readonly onOver: () => void
}

function hashOn(
  threads: Threads,
  body: number,
  wanted: BodyWanted,
  { sizeBytes, withoutPieces, hashing, bill, onOver }: BodyOptions,
): ContentHasher {
  const streams = streamsFor(wanted, sizeBytes).filter(({ kind }) => kind !== 'piece' || !withoutPieces)
  const withoutAddon = !hashing.isNative
  const shares = spread(streams, threads, {
    hashing,
    isOneBlock: sizeBytes !== undefined && sizeBytes <= ONE_BLOCK_BYTES,
  })
  for (const { thread, weight } of shares) thread.load += weight
  const pays = wanted.carRoot === undefined ? 1 : CAR_PAYS
  const cut = new AbortController()
  const turns = wanted.carRoot && threads.carTurns.open(bill?.principal ?? '', cut.signal)
  const ask = async ({ thread }: Share, call: HashCall): Promise<HashAnswer> => {
    // Bytes of a CAR do not pay for every time that it can take; those of all others do.
    const mayBeUnpaid = thread === threads.carThread && call.call === 'block'
    const onTurn = mayBeUnpaid ? () => bill?.require() : undefined
    const reply = await thread.ask(call, { principal: bill?.principal ?? '', signal: cut.signal, onTurn })
    bill?.spend(reply.processorMs)
    if (isOpen && reply.heldBytes) threads.carMemory.set(holder, reply.heldBytes)
    return reply
  }
  const end = (reason: unknown): void => {
    cut.abort(reason)
    release()
    for (const { thread } of shares) thread.tell({ call: 'discard', body })
    onOver()
  }
  const holder: Holder = { principal: bill?.principal ?? '', end }
  /** Of the first call of each share. */
  const openingOf = ({ streams }: Share): OpenBody | undefined =>
    isBegun ? undefined : { streams, sizeBytes, withoutAddon }
  let isBegun = false
  /** What the last block brought back, where its end was known. */
  let lastReplies: Promise<readonly HashAnswer[]> | undefined
  let isOpen = true
  let takenBytes = 0
  const release = (): void => {
    isOpen = false
    threads.carMemory.set(holder, 0)
    turns?.end()
    for (const { thread, weight } of shares) thread.load -= weight
  }
  return {
    async ready(signal) {
      await turns?.take(signal)
      turns?.rest()
    },
    async update(block) {
      if (block.length === 0) return
      bill?.pay(block.length, pays)
      takenBytes += block.length
      const isLast = takenBytes === sizeBytes
      try {
        const turn = turns?.take()
        if (turn !== undefined) await turn
        const call = { call: 'block', body, block: readyToCross(block), isLast } as const
        const asked = shares.map((share) => ask(share, { ...call, open: openingOf(share) }))
        isBegun = true
        if (isLast) lastReplies = Promise.all(asked)
        lastReplies?.catch(() => {}) // this call is told
        // When one thread fails, others may still be reading.
        const outcomes = await Promise.allSettled(asked)
        for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
      } catch (error) {
        // Whoever has discarded the body does not want to know.
        if (cut.signal.aborted && cut.signal.reason === DISCARDED) return
        cut.abort(error)
        throw error
      } finally {
        turns?.rest()
      }
    },
    async digests() {
      cut.signal.throwIfAborted()
      if (!isOpen) throw new TypeError('this hasher has ended')
      const turn = turns?.take()
      if (turn !== undefined) await turn
      release()
      const close = (share: Share) => ask(share, { call: 'close', body, open: openingOf(share) })
      const closing = lastReplies ?? Promise.all(shares.map(close))
      isBegun = true
      const replies = await closing.finally(onOver)
      const results = replies.flatMap(({ results = [] }) => results)
      if (withoutPieces) results.push({ kind: 'piece', value: noPiece(takenBytes) })
      return digestsFrom(results, wanted, sizeBytes)
    },
    discard() {
      if (isOpen) end(DISCARDED)
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

/**
 * Gives each stream to the thread that then has the least to do, the heaviest streams first, and that of a CAR to the thread for CARs.
 *
 * @param options.isOneBlock - true to give all but that to one thread where none is idle: another one would only cost what it takes to ask.
 */
function spread(
  streams: readonly StreamSpec[],
  { threads: all, carThread }: Threads,
  { hashing, isOneBlock }: { readonly hashing: Sha256Hashing; readonly isOneBlock: boolean },
): Share[] {
  const isBusy = all.every(({ load }) => load > 0)
  const threads = isOneBlock && isBusy ? all.toSorted((one, other) => one.load - other.load).slice(0, 1) : all
  const weightOf = (streams: readonly StreamSpec[]): number => weightTogether(streams, hashing)
  const shares = threads.map((thread) => ({ thread, streams: [] as StreamSpec[], weight: 0 }))
  const isOfCar = ({ kind }: StreamSpec): boolean => kind === 'car' && carThread !== undefined
  for (const stream of streams.toSorted((one, other) => weightOf([other]) - weightOf([one]))) {
    if (isOfCar(stream)) continue
    const loadWith = ({ thread, streams }: Share): number => thread.load + weightOf([...streams, stream])
    const share = shares.reduce((least, next) => (loadWith(next) < loadWith(least) ? next : least))
    share.streams.push(stream)
    share.weight = weightOf(share.streams)
  }
  const ofCar = streams.filter(isOfCar)
  if (carThread !== undefined) shares.push({ thread: carThread, streams: ofCar, weight: weightOf(ofCar) })
  return shares.filter(({ streams }) => streams.length > 0)
}
