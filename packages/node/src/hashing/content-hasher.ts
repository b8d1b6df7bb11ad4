import type { ContentDigests, DigestsWanted } from '@lade/core/content'
import type { BodyBill } from '../budget/body-bill.ts'
import { measured, measuredShortly } from '../budget/measured.ts'
import { type BodyDigests, type BodyWanted, digestsFrom, streamsFor } from './content-streams.ts'
import { openStreams, runStream } from './hash-streams.ts'
import { type Sha256Hashing, sha256Hashing } from './sha256-hashing.ts'

export type { BodyDigests, BodyWanted } from './content-streams.ts'

/** Hashing up to so many bytes takes less than a tenth of a millisecond. */
const SHORT_BYTES = 16 * 1024
/** Nobody pays for more than this where the thread was stopped meanwhile. */
const SHORT_MS = 1

/** Computes everything that is wanted of a body in one pass over its blocks. */
export interface ContentHasher {
  /**
   * Resolves when the body may come: CARs wait for their turn, and a body that is not read meanwhile takes no memory. Blocks that come
   * without it wait in `update`.
   *
   * @throws the reason of `signal`.
   */
  ready(signal?: AbortSignal): Promise<void>
  /**
   * Takes the next block, of any length.
   *
   * The caller may go on with further blocks before the promise settles: blocks are taken in the order of the calls. As
   * streams are not equally fast, having four or so on the way keeps all of them busy. A block must stay as it is until its
   * own promise settles, either way; nothing reads it after that. One call that fails is the end of the body, and cuts all others.
   *
   * @throws {LadeError} `over_budget` for a CAR that takes far longer to read than its bytes pay for.
   */
  update(block: Uint8Array): Promise<void>
  /**
   * What was found out, after the blocks of all calls so far. Ends the hasher.
   *
   * @throws {TypeError} when the blocks do not have the length that was announced.
   */
  digests(): Promise<BodyDigests>
  /** Forgets a body whose digests will not be asked for: blocks that still wait are not hashed. Harmless after they were. */
  discard(): void
}

/**
 * Makes hashers for bodies of exactly `sizeBytes`, or of a length that is known at their end.
 *
 * @param bill - who waits for the hashing and is charged for it. @default nobody
 */
export type ContentHashers = (wanted: BodyWanted, sizeBytes: number | undefined, bill?: BodyBill) => ContentHasher

/**
 * Computes everything that is wanted of bytes that are all there, on the calling thread.
 *
 * Meant for small bodies: 4 KiB take about 15 µs, the event loop stands still for 1.7 ms per MiB.
 *
 * @example
 * digestWhole(Buffer.from('abc'), { blake3: false, blake2b256: false, profiles: [], carRoot: undefined }).sha256
 * // 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
 */
export function digestWhole(bytes: Uint8Array, wanted: DigestsWanted, bill?: BodyBill): ContentDigests {
  const isShort = bytes.length <= SHORT_BYTES && wanted.carRoot === undefined
  const results = billed(
    bill,
    bytes.length,
    () => streamsFor(wanted, bytes.length).map((spec) => runStream(spec, bytes)),
    isShort ? briefly : measured,
  )
  return digestsFrom(results, wanted, bytes.length)
}

/** Runs what hashes some bytes, and charges it. */
function billed<Result>(
  bill: BodyBill | undefined,
  sizeBytes: number,
  task: () => Result,
  measure: typeof measured = measured,
): Result {
  if (bill === undefined) return task()
  bill.pay(sizeBytes)
  return measure(task, (processorMs) => bill.spend(processorMs))
}

const briefly: typeof measured = (task, onProcessorMs) => measuredShortly(task, SHORT_MS, onProcessorMs)

/** Hashes on the calling thread. A block is read before its call returns. */
export const hashContentHere: ContentHashers = hashersHere(sha256Hashing)

/** The same with another sha2-256. */
export function hashersHere(hashing: Sha256Hashing): ContentHashers {
  return (wanted, sizeBytes, bill) => {
    const streams = openStreams(streamsFor(wanted, sizeBytes), { sizeBytes, hashing })
    return {
      async ready() {},
      async update(block) {
        billed(bill, block.length, () => streams.update(block))
      },
      async digests() {
        return digestsFrom(streams.finish(), wanted, sizeBytes)
      },
      discard() {},
    }
  }
}
