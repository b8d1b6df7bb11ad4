import type { PendingBlob } from '../../blob-store.ts'
import { requireSha256 } from '../../store-arguments.ts'
import type { Files } from './files.ts'
import { asPortError, translated, unlessMissing } from './fs-failure.ts'
import type { FsShards } from './fs-shards.ts'
import type { SpaceClaim } from './headroom.ts'
import type { PendingFile } from './pending-file.ts'
import type { Syncs } from './syncs.ts'

/** How far writing runs ahead of the medium before a flush is started, so that the last fsync has little left to do. */
const SYNC_EVERY_BYTES = 8 * 1024 * 1024

export interface FsPendingBlobParts {
  readonly files: Files
  readonly syncs: Syncs
  readonly path: string
  readonly file: PendingFile
  readonly claim: SpaceClaim
  /** Where it is published. */
  readonly shards: Pick<FsShards, 'publish'>
  /** How much of the file was written before. @default 0 */
  readonly keptBytes?: number
}

/** A file in the pending directory, on its way to be renamed. */
export class FsPendingBlob implements PendingBlob {
  readonly put = ''
  readonly #parts: FsPendingBlobParts
  #isFileOpen = true
  #writtenBytes = 0
  #isFlushed = false
  #syncStartedAtBytes = 0
  #syncing: Promise<void> | undefined
  #syncFailure: { readonly error: unknown } | undefined
  #busy: Promise<void> | undefined
  #failure: Error | undefined
  #ended: 'committed' | 'aborted' | undefined

  constructor(parts: FsPendingBlobParts) {
    this.#parts = parts
    this.#writtenBytes = parts.keptBytes ?? 0
    this.#syncStartedAtBytes = this.#writtenBytes
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#step(() => this.#append(chunk))
  }

  flush(): Promise<void> {
    return this.#step(() => this.#flush())
  }

  async commit(sha256: string): Promise<void> {
    requireSha256(sha256)
    await this.#step(async () => {
      await this.#flush()
      await this.#closeFile()
      await this.#parts.shards.publish(this.#parts.path, sha256)
      this.#ended = 'committed'
      this.#parts.claim.release()
    })
  }

  abort(): Promise<void> {
    const { files, path } = this.#parts
    return this.#leave(() => unlessMissing(() => files.unlink(path)))
  }

  /** Ends it, and leaves the file. What was not flushed may be lost. */
  setAside(): Promise<void> {
    return this.#leave(async () => {})
  }

  async #leave(remove: () => Promise<unknown>): Promise<void> {
    await this.#busy?.catch(() => {}) // its own caller has been told
    if (this.#ended !== undefined) return
    this.#parts.claim.release()
    await translated(async () => {
      await this.#syncing
      try {
        await this.#closeFile()
      } finally {
        await remove()
      }
    })
    this.#ended = 'aborted'
  }

  /** One call at a time, none after the end, and none after a failure but `abort`. */
  async #step(work: () => Promise<void>): Promise<void> {
    if (this.#ended !== undefined) throw new TypeError(`This pending blob is ${this.#ended}.`)
    if (this.#busy !== undefined) throw new TypeError('A pending blob takes one call at a time.')
    if (this.#failure !== undefined) throw this.#failure
    try {
      this.#busy = work()
      await this.#busy
    } catch (error) {
      this.#failure = asPortError(error)
      throw this.#failure
    } finally {
      this.#busy = undefined
    }
  }

  async #append(chunk: Uint8Array): Promise<void> {
    const { file, claim } = this.#parts
    const holding = claim.hold(chunk.length)
    if (holding !== undefined) await holding
    this.#isFlushed = false
    for (let offset = 0; offset < chunk.length; ) {
      const bytes = await file.write(chunk, offset, this.#writtenBytes)
      if (bytes === 0) throw new Error('The file took no bytes.')
      offset += bytes
      this.#writtenBytes += bytes
      claim.spend(bytes)
    }
    if (this.#syncFailure !== undefined) throw this.#syncFailure.error
    this.#startSyncWhenDue()
  }

  #startSyncWhenDue(): void {
    const { file } = this.#parts
    const isDue = this.#writtenBytes - this.#syncStartedAtBytes >= SYNC_EVERY_BYTES
    if (file.isDirect || !isDue || this.#syncing !== undefined) return
    this.#syncStartedAtBytes = this.#writtenBytes
    this.#syncing = this.#parts.syncs
      .fileData(file.fd)
      .catch((error: unknown) => {
        this.#syncFailure = { error }
      })
      .finally(() => {
        this.#syncing = undefined
      })
  }

  async #flush(): Promise<void> {
    if (this.#isFlushed) return
    await this.#syncing
    // An fsync after a failed fdatasync could succeed with the bytes gone.
    if (this.#syncFailure !== undefined) throw this.#syncFailure.error
    await this.#parts.syncs.file(this.#parts.file.fd)
    this.#isFlushed = true
  }

  async #closeFile(): Promise<void> {
    if (!this.#isFileOpen) return
    this.#isFileOpen = false
    await this.#parts.file.close()
  }
}
