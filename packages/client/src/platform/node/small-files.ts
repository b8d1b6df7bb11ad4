import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { SourceFile } from '../../put-folder/source-item.ts'
import { fingerprintOf } from './path-source.ts'
import type { Turns } from './turns.ts'

/** So many files, one after another, tell whether the system has them at hand. */
const FILES_OF_SAMPLE = 32
/** They take longer where each waits for a disk or a network. */
const SLOW_SAMPLE_MS = 32
/** So many files are read side by side then, before it is tried again. */
const FILES_AFTER_SLOW = 512

/**
 * Reads the small files of a folder on this thread, one after another, while the system has them at hand: that takes a fifth of the time
 * of reads that wait for each other. Slower ones are left to the caller, who reads them side by side.
 */
export class SmallFiles {
  #sampled = 0
  #sampleMs = 0
  #left = 0

  readonly #turns: Turns

  constructor(turns: Turns) {
    this.#turns = turns
  }

  /** All bytes of a file; undefined where it is to be read in another way, or is no more what was listed. */
  async read(
    path: string,
    { sizeBytes, fingerprint }: Pick<SourceFile, 'sizeBytes' | 'fingerprint'>,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.#left > 0) {
      this.#left -= 1
      return undefined
    }
    await this.#turns.next()
    const startedAt = performance.now()
    const bytes = readNow(path, { sizeBytes, fingerprint })
    this.#note(performance.now() - startedAt)
    return bytes
  }

  #note(readMs: number): void {
    this.#sampleMs += readMs
    this.#sampled += 1
    if (this.#sampled < FILES_OF_SAMPLE) return
    if (this.#sampleMs > SLOW_SAMPLE_MS) this.#left = FILES_AFTER_SLOW
    this.#sampled = 0
    this.#sampleMs = 0
  }
}

function readNow(
  path: string,
  { sizeBytes, fingerprint }: Pick<SourceFile, 'sizeBytes' | 'fingerprint'>,
): Uint8Array<ArrayBuffer> | undefined {
  // What has become a pipe is not waited for.
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const bytes = new Uint8Array(sizeBytes)
    let readBytes = 0
    while (readBytes < sizeBytes) {
      const count = readSync(fd, bytes, readBytes, sizeBytes - readBytes, null)
      if (count === 0) return undefined
      readBytes += count
    }
    // The time of the last change of the inode is that of the listing, so that these are the bytes that were there then.
    return fingerprintOf(fstatSync(fd, { bigint: true })) === fingerprint ? bytes : undefined
  } finally {
    closeSync(fd)
  }
}
