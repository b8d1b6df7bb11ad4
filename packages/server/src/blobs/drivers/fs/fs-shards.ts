import { join } from 'node:path'
import type { BlobInfo } from '../../blob-store.ts'
import { isSha256 } from '../../store-arguments.ts'
import { makeDirectory } from './directories.ts'
import type { Files } from './files.ts'
import { hasErrno, unlessMissing } from './fs-failure.ts'
import type { Syncs } from './syncs.ts'

const SHARD = /^[0-9a-f]{2}$/

export interface FsShardsOptions {
  readonly files: Files
  readonly syncs: Syncs
  readonly dir: string
}

/** The committed blobs: `<dir>/<first two hex digits>/<sha256>`. The directories between are the shards. */
export class FsShards {
  readonly #files: Files
  readonly #syncs: Syncs
  readonly #dir: string
  /** Shards whose name in `dir` is known to survive a power cut. */
  readonly #durable = new Set<string>()

  constructor({ files, syncs, dir }: FsShardsOptions) {
    this.#files = files
    this.#syncs = syncs
    this.#dir = dir
  }

  /** Notes that `dir` was synced while it had these names. */
  noteDurable(names: readonly string[]): void {
    for (const name of names) if (SHARD.test(name)) this.#durable.add(name)
  }

  pathOf(sha256: string): string {
    return join(this.#dir, FsShards.placeOf(sha256))
  }

  /** The path below `dir`. */
  static placeOf(sha256: string): string {
    return `${sha256.slice(0, 2)}/${sha256}`
  }

  /** Renames a closed file to its place. The name is durable when this resolves. */
  async publish(pendingPath: string, sha256: string): Promise<void> {
    const shard = sha256.slice(0, 2)
    const isDurable = this.#durable.has(shard)
    if (!isDurable) await makeDirectory(this.#files, this.#shardOf(sha256))
    try {
      await this.#files.rename(pendingPath, this.pathOf(sha256))
    } catch (error) {
      // Somebody may have removed the directory: the next blob makes it again.
      if (hasErrno(error, 'ENOENT')) this.#durable.delete(shard)
      throw error
    }
    await this.sync(sha256)
    if (!isDurable) {
      await this.#syncs.directory(this.#dir)
      this.#durable.add(shard)
    }
  }

  /** Makes the names in the shard of a blob durable. */
  async sync(sha256: string): Promise<void> {
    await this.#syncs.directory(this.#shardOf(sha256))
  }

  /** Undefined without such a file. */
  sizeOf(sha256: string): Promise<number | undefined> {
    return unlessMissing(() => this.#files.sizeOf(this.pathOf(sha256)))
  }

  /** Blobs whose digest is after `after`, in the order of digests. */
  async *list(after: string, limit: number): AsyncGenerator<BlobInfo> {
    const names = await this.#files.readdir(this.#dir)
    const shards = names.filter((name) => SHARD.test(name) && name >= after.slice(0, 2)).sort()
    let left = limit
    for (const shard of shards) {
      const inShard = (await unlessMissing(() => this.#files.readdir(join(this.#dir, shard)))) ?? []
      for (const sha256 of inShard.filter((name) => isSha256(name) && name > after).sort()) {
        if (left <= 0) return
        const sizeBytes = await this.sizeOf(sha256)
        if (sizeBytes === undefined) continue
        left -= 1
        yield { sha256, put: '', sizeBytes }
      }
    }
  }

  /** The absence is durable when this resolves. */
  async remove(sha256: string): Promise<void> {
    await unlessMissing(() => this.#files.unlink(this.pathOf(sha256)))
    // Also when it was missing: another process may have removed it without reaching the fsync.
    await unlessMissing(() => this.sync(sha256))
  }

  #shardOf(sha256: string): string {
    return join(this.#dir, sha256.slice(0, 2))
  }
}
