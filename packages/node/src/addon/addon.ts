import { createRequire } from 'node:module'

/** `struct state` of native/sha256-streams.c. */
export const STATE_BYTES = 104

/**
 * Hashes the bytes that are queued for streams, two streams at a time.
 *
 * A queue is the state of its stream, then any number of pairs: bytes of a message, and the 32 bytes where its digest is to
 * be put if they are the last, or no bytes if they are not. A state is {@link STATE_BYTES} that are zero to begin with.
 */
export type RunStreams = (queues: readonly (readonly Uint8Array[])[]) => void

/**
 * Hashes one part or two at once on a thread of libuv: md5, and sha2-256 if asked for. `digests` takes {@link PART_DIGESTS_BYTES} for each
 * part: 16 of its md5, then 32 of its sha2-256. Nothing may write to the parts before `onEnd` is called.
 */
export type DigestParts = (
  parts: readonly Uint8Array[],
  digests: Uint8Array,
  withSha256: boolean,
  onEnd: () => void,
) => void

/** `DIGESTS_BYTES` of native/part-digests.c. */
export const PART_DIGESTS_BYTES = 48

/** What the addon exports. */
export interface Addon {
  /** Has the C library give memory back to the system that is freed from now on. */
  readonly returnMemory: () => void
  /** Gives memory back to the system that is freed already. */
  readonly trimMemory: () => void
  /** Gives the pages of the processor that lie within these bytes back to the system. The bytes become zero, or stay. */
  readonly discardPages: (bytes: Uint8Array) => void
  /** Undefined on a processor without the instructions. */
  readonly run?: RunStreams
  /** As `run`. */
  readonly digestParts?: DigestParts
}

/** The addon of this platform; undefined where it was not built or cannot be loaded. */
export function loadAddon(): Addon | undefined {
  try {
    // By a name of package.json, which leads to the same folder from the sources and from what is built of them.
    return createRequire(import.meta.url)(`#native/sha256-streams-${process.platform}-${process.arch}.node`)
  } catch {
    // Whatever it is that this platform lacks, the service goes on without it.
    return undefined
  }
}
