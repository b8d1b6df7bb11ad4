import type { Sha256, Sha256Stream } from '@lade/core/dag'
import { loadAddon, type RunStreams, STATE_BYTES } from '../addon/addon.ts'
import { sha256 } from './sha256.ts'

/** How this process hashes the sha2-256 streams of a body: all of its bytes, and the leaves of its DAGs. */
export interface Sha256Hashing {
  /** False where the addon was not built or cannot run, and two streams take nearly twice as long. */
  readonly isNative: boolean
  /** sha2-256 for the streams of one body on one thread. */
  forBody(): BodySha256
}

/** sha2-256 whose streams may put their work off until it is asked for, to do that of several at once. */
export interface BodySha256 extends Sha256 {
  /** Does what was put off: digests are there, and no bytes that a stream was given are read any more. */
  run(): void
}

const DIGEST_BYTES = 32
const NO_DIGEST = new Uint8Array()
const SAMPLE = Buffer.from('the sample has more bytes than a block of sha2-256 and less than two')

/** The native way, or node:crypto, one stream after the other, where `runStreams` is undefined. Digests are the same. */
export function sha256HashingWith(runStreams: RunStreams | undefined): Sha256Hashing {
  if (runStreams === undefined) return { isNative: false, forBody: () => ({ ...sha256, run() {} }) }
  return { isNative: true, forBody: () => queueing(runStreams) }
}

/**
 * The addon; undefined where it was not built, the processor lacks the instructions, or it does not hash as this version
 * expects.
 *
 * @param load - loads the addon.
 */
export function loadRunStreams(load: () => unknown = loadAddon): RunStreams | undefined {
  try {
    const { run } = load() as { readonly run: RunStreams }
    const [one, other] = [new Uint8Array(DIGEST_BYTES), new Uint8Array(DIGEST_BYTES)]
    // One that was built from another source would be found out by uploads.
    run([one, other].map((digest) => [new Uint8Array(STATE_BYTES), SAMPLE, digest]))
    const expected = sha256.of(SAMPLE)
    return Buffer.compare(one, expected) === 0 && Buffer.compare(other, expected) === 0 ? run : undefined
  } catch {
    // Whatever it is that this platform lacks, hashing goes on without it.
    return undefined
  }
}

/** How the calling thread hashes sha2-256 streams. */
export const sha256Hashing: Sha256Hashing = sha256HashingWith(loadRunStreams())

/** Queues what its streams are given. Everything that is kept of a stream belongs to JavaScript. */
function queueing(runStreams: RunStreams): BodySha256 {
  const queues: Uint8Array[][] = []
  return {
    ...sha256,
    stream(): Sha256Stream {
      const queue: Uint8Array[] = [new Uint8Array(STATE_BYTES)]
      queues.push(queue)
      return {
        update: (bytes) => void queue.push(bytes, NO_DIGEST),
        end: (last, digest) => void queue.push(last, digest),
      }
    },
    run() {
      try {
        runStreams(queues)
      } finally {
        for (const queue of queues) queue.length = 1
      }
    },
  }
}
