import { mkdir, readdir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'

const DEFAULT_MEMORY_BYTES = 8 * 1024 * 1024
/** What an entry takes beside its nodes, roughly. */
const ENTRY_BYTES = 256
/** Shorter levels are made again within a few milliseconds, and have no file. */
const FILE_FROM_BYTES = 1024
const DEFAULT_FILES_PER_FOLDER = 1024

/** Where levels are cached, and how much of them. Sizes are bytes. */
export interface LevelCacheOptions {
  /** Where levels have files, a folder of its own; without one they are in memory alone. */
  readonly dir?: string
  /** No file is written that would leave less than this free. @default 0 */
  readonly minFreeBytes?: number
  /** @default 8 MiB */
  readonly memoryBytes?: number
  /** Files in each of the 256 folders; the oldest go first. @default 1024 */
  readonly filesPerFolder?: number
}

/**
 * Levels of piece trees by the root that they lead to, so that a proof need not hash a whole piece again.
 *
 * A cache: nothing is flushed, a file that cannot be written is left out, and whoever reads a level has to fold it to its root before use.
 * Processes may share a folder.
 *
 * @example
 * const levels = new LevelCache({ dir: '/var/lib/lade/levels' })
 * await levels.set(root, nodes) // root: 64 hex digits
 * await levels.get(root) // nodes, or undefined
 */
export class LevelCache {
  readonly #options: LevelCacheOptions
  readonly #memory: LRUCache<string, Uint8Array>
  #lastTurn: Promise<void> = Promise.resolve()

  constructor(options: LevelCacheOptions = {}) {
    this.#options = options
    this.#memory = new LRUCache({
      maxSize: options.memoryBytes ?? DEFAULT_MEMORY_BYTES,
      sizeCalculation: ({ length }) => length + ENTRY_BYTES,
    })
  }

  /** The nodes that were set for a root, or what has become of their file; undefined when there are none. */
  async get(root: string): Promise<Uint8Array | undefined> {
    const cached = this.#memory.get(root)
    if (cached !== undefined) return cached
    const nodes = await this.#readFile(root)
    if (nodes !== undefined) this.#memory.set(root, nodes)
    return nodes
  }

  async set(root: string, nodes: Uint8Array): Promise<void> {
    this.#memory.set(root, nodes)
    if (nodes.length >= FILE_FROM_BYTES) await this.#writeFile(root, nodes)
  }

  /** Runs a task when those before it have ended, so that levels are made one at a time in a process. */
  async inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
    const before = this.#lastTurn
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#lastTurn = promise
    try {
      await before
      return await task()
    } finally {
      resolve()
    }
  }

  async #readFile(root: string): Promise<Uint8Array | undefined> {
    const { dir } = this.#options
    // Whatever keeps a file from being read: the level can be made again.
    return dir === undefined ? undefined : readFile(join(dir, root.slice(0, 2), root)).catch(() => undefined)
  }

  async #writeFile(root: string, nodes: Uint8Array): Promise<void> {
    const { dir, minFreeBytes = 0 } = this.#options
    if (dir === undefined) return
    const folder = join(dir, root.slice(0, 2))
    const file = join(folder, root)
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const { bavail, bsize } = await statfs(folder)
      if (bavail * bsize - nodes.length < minFreeBytes) return
      await writeFile(file, nodes, { mode: 0o600 })
      await this.#removeOldest(folder)
    } catch {
      await rm(file, { force: true }).catch(() => {})
    }
  }

  async #removeOldest(folder: string): Promise<void> {
    const { filesPerFolder = DEFAULT_FILES_PER_FOLDER } = this.#options
    const names = await readdir(folder)
    if (names.length <= filesPerFolder) return
    const aged = await Promise.all(
      names.map(async (name) => ({ name, madeMs: (await stat(join(folder, name))).mtimeMs })),
    )
    aged.sort((one, other) => one.madeMs - other.madeMs)
    // A few more, so that not every file that is written has all of them looked at.
    const tooMany = names.length - filesPerFolder + Math.floor(filesPerFolder / 8)
    for (const { name } of aged.slice(0, tooMany)) await rm(join(folder, name), { force: true })
  }
}
