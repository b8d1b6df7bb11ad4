import { LadeError } from '@lade/core/errors'
import type { BlobInfo, BlobStore, ByteRange, OpenBlob, PendingBlob, ResumableBlob } from '../../blob-store.ts'
import { requireBlobName, requireHolder, requireRange, requireSha256 } from '../../store-arguments.ts'

/** Small enough that tests with ordinary bodies see more than one chunk. */
const CHUNK_BYTES = 65_536

/**
 * A blob store in the memory of this process, for tests and for trying things out. Nothing survives the process.
 *
 * It keeps every promise of the port but durability, and like a disk store it hands out chunks in a buffer that it
 * reuses, so that a reader that forgets to copy fails here first.
 *
 * @example
 * const store = openMemoryBlobStore()
 * store.traits // { medium: 'memory', durable: false, keepsPuts: false, locatedMs: 0 }
 */
export function openMemoryBlobStore(): BlobStore {
  const blobs = new Map<string, StoredBlob>()
  let commits = 0
  let installation: string | undefined
  const pendingByHolder = new Map<string, Set<PendingBlob>>()
  const keptByHolder = new Map<string, Uint8Array>()

  return {
    traits: { medium: 'memory', durable: false, keepsPuts: false, locatedMs: 0 },

    installation: {
      read: async () => installation,
      async write(text, { ifAbsent = false } = {}) {
        if (ifAbsent && installation !== undefined) return false
        installation = text
        return true
      },
    },

    async begin({ holder }) {
      requireHolder(holder)
      const siblings = pendingByHolder.get(holder) ?? new Set()
      pendingByHolder.set(holder, siblings)
      const pending = new MemoryPendingBlob({
        isHeld: () => siblings.has(pending),
        forget: () => {
          siblings.delete(pending)
        },
        keep: (sha256, bytes) => {
          blobs.set(sha256, { bytes, version: String(commits++) })
        },
      })
      siblings.add(pending)
      return pending
    },

    async resume({ holder, place, keptBytes }) {
      requireHolder(holder)
      const kept = place === '' ? new Uint8Array() : keptByHolder.get(holder)
      if (kept === undefined || kept.length < keptBytes) return undefined
      return resumableBlob(kept.subarray(0, keptBytes), {
        keep: (bytes) => {
          keptByHolder.set(holder, bytes)
        },
        commit: (sha256, bytes) => {
          blobs.set(sha256, { bytes, version: String(commits++) })
        },
      })
    },

    async requireRoom() {},

    async open(sha256) {
      requireSha256(sha256)
      const stored = blobs.get(sha256)
      if (stored === undefined) return undefined
      // Nobody could look at them in the memory of a process.
      return bodyOf(stored, () => blobs.get(sha256) === stored && blobs.delete(sha256))
    },

    async stat(sha256) {
      requireSha256(sha256)
      const stored = blobs.get(sha256)
      return stored && { sha256, put: '', sizeBytes: stored.bytes.length }
    },

    async *list({ after = '', limit = Number.POSITIVE_INFINITY } = {}): AsyncGenerator<BlobInfo> {
      const digests = [...blobs.keys()].filter((sha256) => sha256 > after).sort()
      let left = limit
      for (const sha256 of digests) {
        const stored = blobs.get(sha256)
        if (left <= 0) return
        if (stored === undefined) continue
        left -= 1
        yield { sha256, put: '', sizeBytes: stored.bytes.length }
      }
    },

    async delete({ sha256, put }, { signal } = {}) {
      requireBlobName({ sha256, put })
      if (signal?.aborted === true) {
        throw new LadeError('storage_failed', { retryAfterSeconds: 1 }, { cause: signal.reason })
      }
      if (put === '') blobs.delete(sha256)
    },

    // Nobody can look at what was taken away here, and nothing of it is kept.
    async deleteQuarantined(sha256) {
      requireSha256(sha256)
      return 0
    },

    async sweepPending(holder) {
      requireHolder(holder)
      const siblings = pendingByHolder.get(holder)
      const count = (siblings?.size ?? 0) + (keptByHolder.delete(holder) ? 1 : 0)
      siblings?.clear()
      return count
    },

    async pendingHolders() {
      const pending = [...pendingByHolder].filter(([, blobs]) => blobs.size > 0).map(([holder]) => holder)
      return [...pending, ...keptByHolder.keys()]
    },

    async check() {},

    async close() {},
  }
}

interface StoredBlob {
  readonly bytes: Uint8Array
  readonly version: string
}

interface PendingPlace {
  isHeld(): boolean
  forget(): void
  keep(sha256: string, bytes: Uint8Array): void
}

class MemoryPendingBlob implements PendingBlob {
  readonly put = ''
  readonly #place: PendingPlace
  #chunks: Uint8Array[] = []
  #ended: 'committed' | 'aborted' | undefined

  constructor(place: PendingPlace) {
    this.#place = place
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#requireOpen()
    this.#chunks.push(Uint8Array.from(chunk))
  }

  async flush(): Promise<void> {
    this.#requireOpen()
  }

  async commit(sha256: string): Promise<void> {
    requireSha256(sha256)
    this.#requireOpen()
    if (!this.#place.isHeld()) {
      throw new LadeError(
        'storage_failed',
        { retryAfterSeconds: 1 },
        { cause: new Error('The pending place was swept.') },
      )
    }
    this.#place.keep(sha256, Buffer.concat(this.#chunks))
    this.#end('committed')
  }

  async abort(): Promise<void> {
    if (this.#ended === undefined) this.#end('aborted')
  }

  #end(how: 'committed' | 'aborted'): void {
    this.#ended = how
    this.#chunks = []
    this.#place.forget()
  }

  #requireOpen(): void {
    if (this.#ended !== undefined) throw new TypeError(`This pending blob is ${this.#ended}.`)
  }
}

function resumableBlob(
  kept: Uint8Array,
  {
    keep,
    commit,
  }: { readonly keep: (bytes: Uint8Array) => void; readonly commit: (sha256: string, bytes: Uint8Array) => void },
): ResumableBlob {
  const chunks = [Uint8Array.from(kept)]
  let isClosed = false
  const requireOpen = (): void => {
    if (isClosed) throw new TypeError('This blob is closed.')
  }
  return {
    put: '',
    async write(chunk) {
      requireOpen()
      chunks.push(Uint8Array.from(chunk))
    },
    async keep() {
      requireOpen()
      keep(Buffer.concat(chunks))
      return 'kept'
    },
    async *read(range) {
      const bytes = Buffer.concat(chunks)
      yield* bodyOf({ bytes, version: '' }, () => false).chunks(requireRange(range, bytes.length))
    },
    async commit(sha256) {
      requireSha256(sha256)
      requireOpen()
      commit(sha256, Buffer.concat(chunks))
    },
    async close() {
      isClosed = true
    },
  }
}

function bodyOf({ bytes, version }: StoredBlob, takeAway: () => boolean): OpenBlob {
  let isClosed = false
  return {
    sizeBytes: bytes.length,
    version,
    chunks(range?: ByteRange) {
      const { offset, length } = requireRange(range, bytes.length)
      return (async function* () {
        const buffer = new Uint8Array(Math.min(CHUNK_BYTES, length))
        for (let done = 0; done < length; ) {
          if (isClosed) throw new TypeError('This body is closed.')
          const piece = bytes.subarray(offset + done, offset + Math.min(done + CHUNK_BYTES, length))
          buffer.set(piece)
          done += piece.length
          yield buffer.subarray(0, piece.length)
        }
      })()
    },
    async quarantine() {
      if (isClosed) throw new TypeError('This body is closed.')
      return takeAway()
    },
    async close() {
      isClosed = true
    },
  }
}
