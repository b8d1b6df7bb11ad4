import { createHash, hash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type DigestParts, loadAddon, PART_DIGESTS_BYTES } from '../addon/addon.ts'

/** The digests of one part, in lower-case hex. */
export interface PartDigests {
  readonly md5: string
  readonly sha256: string
}

/** Hashes parts of bodies beside the event loop. */
export interface PartHashing {
  /**
   * The digests of `part`, which nothing may write to meanwhile.
   *
   * Two parts that are asked for in the same turn of the event loop are hashed together, which takes little longer than one: a part of
   * 8 MiB takes 11 ms of processor time, and two of them 15 ms.
   *
   * @param knownSha256 - of the part, which is not computed then.
   */
  digest(part: Uint8Array, knownSha256?: string): Promise<PartDigests>
}

/** Hashing up to so many bytes takes less than another thread takes to be asked. */
const SHORT_BYTES = 32 * 1024
const MD5_BYTES = 16
/** Without the addon the event loop goes on after so many bytes. */
const TURN_BYTES = 1024 * 1024
/** Pairs on the way at a time: others of the threads are for files. */
const MOST_PAIRS = Math.ceil(availableParallelism() / 4)

interface Waiting {
  readonly part: Uint8Array
  readonly knownSha256: string | undefined
  readonly resolve: (digests: PartDigests) => void
  readonly reject: (error: unknown) => void
}

/** The way of the addon, in pairs; or of node:crypto, in turns with the event loop, where `digestParts` is undefined. Digests are the same. */
export function partHashingWith(digestParts: DigestParts | undefined): PartHashing {
  return digestParts === undefined ? { digest: digestInTurns } : hashingInPairs(digestParts)
}

function hashingInPairs(digestParts: DigestParts): PartHashing {
  const waiting: Waiting[] = []
  let pairs = 0

  function startPairs(): void {
    while (pairs < MOST_PAIRS) {
      const first = waiting.shift()
      if (first === undefined) return
      const at = waiting.findIndex((next) => (next.knownSha256 === undefined) === (first.knownSha256 === undefined))
      start(at < 0 ? [first] : [first, ...waiting.splice(at, 1)])
    }
  }

  /** @param together - all with a sha2-256 that is known, or all without. */
  function start(together: readonly Waiting[]): void {
    const digests = Buffer.allocUnsafeSlow(together.length * PART_DIGESTS_BYTES)
    const parts = together.map(({ part }) => part)
    const withSha256 = together.some(({ knownSha256 }) => knownSha256 === undefined)
    const onEnd = (): void => {
      pairs -= 1
      startPairs()
      for (const [index, { knownSha256, resolve }] of together.entries()) {
        const [from, end] = [index * PART_DIGESTS_BYTES, (index + 1) * PART_DIGESTS_BYTES]
        const md5 = digests.toString('hex', from, from + MD5_BYTES)
        resolve({ md5, sha256: knownSha256 ?? digests.toString('hex', from + MD5_BYTES, end) })
      }
    }
    pairs += 1
    try {
      digestParts(parts, digests, withSha256, onEnd)
    } catch (error) {
      pairs -= 1
      for (const { reject } of together) reject(error)
    }
  }

  return {
    async digest(part, knownSha256) {
      if (part.length <= SHORT_BYTES) return digestHere(part, knownSha256)
      return new Promise((resolve, reject) => {
        waiting.push({ part, knownSha256, resolve, reject })
        // Whatever else is asked for in this turn comes along.
        if (waiting.length === 1) setImmediate(startPairs)
      })
    },
  }
}

/** How this process hashes parts. */
export const partHashing: PartHashing = partHashingWith(loadAddon()?.digestParts)

function digestHere(part: Uint8Array, knownSha256: string | undefined): PartDigests {
  return { md5: hash('md5', part, 'hex'), sha256: knownSha256 ?? hash('sha256', part, 'hex') }
}

async function digestInTurns(part: Uint8Array, knownSha256?: string): Promise<PartDigests> {
  if (part.length <= SHORT_BYTES) return digestHere(part, knownSha256)
  const md5 = await digestByTurns('md5', part)
  return { md5, sha256: knownSha256 ?? (await digestByTurns('sha256', part)) }
}

async function digestByTurns(algorithm: 'md5' | 'sha256', part: Uint8Array): Promise<string> {
  const running = createHash(algorithm)
  for (let at = 0; at < part.length; at += TURN_BYTES) {
    running.update(part.subarray(at, at + TURN_BYTES))
    await nextTurn()
  }
  return running.digest('hex')
}
