import { randomUUID } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import type { PutState } from './options.ts'

/**
 * Keeps the state of one put in a file, which only its owner can read and which is written whole or not at all.
 *
 * One file for each thing that is put: two puts at once would write over each other's.
 *
 * @param path - in a folder that exists.
 *
 * @example
 * await client.put(path, { state: fileState(join(cacheFolder, 'put.json')) })
 */
export function fileState(path: string): PutState {
  return {
    async load() {
      try {
        return await readFile(path, 'utf8')
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
        throw error
      }
    },
    async save(text) {
      const draft = `${path}.${randomUUID()}`
      try {
        const file = await open(draft, 'wx', 0o600)
        try {
          await file.writeFile(text)
        } finally {
          await file.close()
        }
        await rename(draft, path)
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
    },
    clear: () => rm(path, { force: true }),
  }
}
