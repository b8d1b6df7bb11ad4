import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { BackupRefused } from './backup-refused.ts'
import type { StoredFile } from './manifest.ts'

const BLOCK_BYTES = 1024 * 1024

/**
 * Copies a file of a backup to a new name, durably but for that name, and compares its digest with the manifest's on the way.
 *
 * @throws {BackupRefused} when the file is damaged; nothing is at the new name then.
 */
export async function copyStoredFile(options: {
  readonly from: string
  readonly to: string
  readonly stored: StoredFile
  readonly signal: AbortSignal
}): Promise<void> {
  const { from, to, stored, signal } = options
  const temporary = `${to}.part`
  await rm(temporary, { force: true })
  const digest = createHash('sha256')
  {
    await using source = await open(from, 'r')
    await using target = await open(temporary, 'wx', 0o600)
    const block = Buffer.alloc(BLOCK_BYTES)
    for (;;) {
      signal.throwIfAborted()
      const { bytesRead } = await source.read(block, 0, BLOCK_BYTES)
      if (bytesRead === 0) break
      digest.update(block.subarray(0, bytesRead))
      await target.writeFile(block.subarray(0, bytesRead))
    }
    await target.sync()
  }
  if (digest.digest('hex') !== stored.sha256) {
    await rm(temporary, { force: true })
    throw new BackupRefused(`${from} is damaged: its digest differs from backup.json. Use another copy.`)
  }
  await rename(temporary, to)
}
