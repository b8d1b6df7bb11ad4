import { readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode, syncDirectory } from '@lade/node/disk/durable-directory'
import { z } from 'zod'
import { writePrivately } from './backup-folder.ts'
import { BackupRefused } from './backup-refused.ts'

const FILE = 'restore.json'

const MarkSchema = z.object({
  /** The backup's folder by its id, and its state. */
  backup: z.string(),
  state: z.string(),
  /** Where it is restored to, without secrets. */
  database: z.string(),
  storage: z.string(),
  keepsTokens: z.boolean(),
})

/** What is being restored, and where to. It is in the data directory from the first byte to the last. */
export type RestoreMark = z.infer<typeof MarkSchema>

/**
 * Says in the data directory that a restore is under way.
 *
 * @returns `resumed` when the same one had begun before.
 * @throws {BackupRefused} when another one had begun there.
 */
export async function markRestore(
  dataDir: string,
  mark: RestoreMark,
  requireEmpty: () => Promise<void>,
): Promise<'begun' | 'resumed'> {
  const file = join(dataDir, FILE)
  const found = await readMark(file)
  if (found !== undefined) {
    if (JSON.stringify(MarkSchema.parse(mark)) === JSON.stringify(found)) return 'resumed'
    throw new BackupRefused(
      `An unfinished restore is in ${dataDir}. Run the same "lade restore" command again, or empty the folder and the storage.`,
    )
  }
  await requireEmpty()
  await rm(`${file}.new`, { force: true })
  await writePrivately(`${file}.new`, `${JSON.stringify(mark)}\n`)
  await rename(`${file}.new`, file)
  await syncDirectory(dirname(file))
  return 'begun'
}

/** Says that it is finished. */
export async function unmarkRestore(dataDir: string): Promise<void> {
  await rm(join(dataDir, FILE), { force: true })
  await syncDirectory(dataDir)
}

async function readMark(file: string): Promise<RestoreMark | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  return MarkSchema.parse(JSON.parse(text))
}
