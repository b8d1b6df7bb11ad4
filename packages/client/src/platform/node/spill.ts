import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Spill } from '../platform.ts'

/**
 * A temporary file that only this user can read.
 *
 * Where the system allows it, its name is taken away as soon as it is open: then nothing is left of it however the process
 * ends. Elsewhere it goes when it is discarded.
 */
export async function createSpill(): Promise<Spill> {
  const folder = await mkdtemp(join(tmpdir(), 'lade-put-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  const handle = await open(join(folder, 'part'), 'wx+', 0o600).catch(async (error: unknown) => {
    await remove()
    throw error
  })
  // Windows keeps the name of an open file.
  await remove().catch(() => {})
  let sizeBytes = 0
  let isDiscarded = false
  return {
    async append(chunk) {
      for (let at = 0; at < chunk.length; ) {
        const { bytesWritten } = await handle.write(chunk, at, chunk.length - at, sizeBytes)
        at += bytesWritten
        sizeBytes += bytesWritten
      }
    },
    slice: () => ({ kind: 'file', fd: handle.fd, offsetBytes: 0, sizeBytes }),
    async discard() {
      if (isDiscarded) return
      isDiscarded = true
      await handle.close()
      await remove()
    },
  }
}
