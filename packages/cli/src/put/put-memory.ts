import { createHash } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { PutState } from '@lade/client'
import { fileState } from '@lade/client/node'
import { cacheFolder } from '../account/folders.ts'
import type { Terminal } from '../terminal.ts'
import type { LocalFile } from './collect-files.ts'

/** Of files up to 100 MB the client keeps nothing. */
const WORTH_REMEMBERING_BYTES = 100 * 1024 * 1024
const FORGOTTEN_AFTER_MS = 30 * 86_400_000

/**
 * What puts that were interrupted had hashed already, one small file each in the platform's folder for caches.
 *
 * A file is known by its path, size, times and inode, so a changed one is hashed anew. Remembering is a convenience: where the
 * folder cannot be written, every put hashes.
 */
export class PutMemory {
  readonly #folder: string
  readonly #nowMs: number
  #isReady: Promise<boolean> | undefined

  constructor(terminal: Pick<Terminal, 'platform' | 'env' | 'homeDir' | 'now'>) {
    this.#folder = join(cacheFolder(terminal), 'puts')
    this.#nowMs = terminal.now().getTime()
  }

  /**
   * Where the put of `file` keeps what it hashed; undefined for a file not worth it.
   *
   * @param purpose - what else the state depends on, such as the kind of id.
   */
  async stateOf(file: LocalFile, purpose: string): Promise<PutState | undefined> {
    if (file.sizeBytes < WORTH_REMEMBERING_BYTES) return undefined
    return this.#stateAt([file.path, file.version, purpose])
  }

  /**
   * Where the put of a folder keeps the ids of its files; undefined where there is no place.
   *
   * @param account - the service, and who puts: what one has sent is not another's.
   */
  folderState(folder: string, account: string): Promise<PutState | undefined> {
    return this.#stateAt(['folder', folder, account])
  }

  async #stateAt(names: readonly string[]): Promise<PutState | undefined> {
    this.#isReady ??= this.#prepare()
    if (!(await this.#isReady)) return undefined
    const key = createHash('sha256').update(JSON.stringify(names)).digest('hex')
    return forgiving(fileState(join(this.#folder, `${key.slice(0, 40)}.json`)))
  }

  /** Makes the folder, and forgets puts that nobody came back to. */
  async #prepare(): Promise<boolean> {
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      for (const name of await readdir(this.#folder)) {
        const path = join(this.#folder, name)
        if ((await changedMs(path)) < this.#nowMs - FORGOTTEN_AFTER_MS) await rm(path, { force: true })
      }
      return true
    } catch (error) {
      if (error instanceof Error && 'syscall' in error) return false
      throw error
    }
  }
}

/** Never, for what another put has cleared meanwhile. */
async function changedMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Number.POSITIVE_INFINITY
    throw error
  }
}

/** A put does not fail for want of room in the cache. */
function forgiving(state: PutState): PutState {
  return {
    load: () => orElse(state.load(), undefined),
    save: (text) => orElse(state.save(text), undefined),
    clear: () => orElse(state.clear(), undefined),
  }
}

async function orElse<Value>(work: Promise<Value>, otherwise: Value): Promise<Value> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return otherwise
    throw error
  }
}
