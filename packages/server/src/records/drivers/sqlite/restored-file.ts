import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { openConnection } from './connection.ts'
import { syncPath } from './sync-path.ts'

/**
 * Takes out of a copy of the records what belonged to the processes of where it was taken, and to its storage: instances and their uploads
 * in flight, leases, known damage, removals of bytes that no backup has, and secrets. The newest schema is expected.
 */
export function clearRestoredFile({
  file,
  secrets,
}: {
  readonly file: string
  readonly secrets: readonly string[]
}): void {
  const connection = openConnection(file, { mustExist: true })
  try {
    connection.transaction(() => {
      for (const table of ['reservations', 'open_uploads', 'instances', 'discards', 'damaged'])
        connection.exec(`DELETE FROM ${table}`)
      // A digest has one place in a backup.
      connection.exec("UPDATE objects SET put = '' WHERE put <> ''")
      // The rows stay, since their fences must never be given twice.
      connection.exec("UPDATE leases SET holder = '', until = 0")
      const forget = connection.prepare<[string]>('DELETE FROM secrets WHERE name = ?')
      for (const name of secrets) forget.run(name)
    })()
  } finally {
    connection.close()
  }
}

/** Gives a database file that nobody has open its final name, durably and whole. */
export function publishRestoredFile({ file, as }: { readonly file: string; readonly as: string }): void {
  const connection = openConnection(file, { mustExist: true })
  try {
    const mode = connection.pragma('journal_mode = DELETE', { simple: true })
    if (mode !== 'delete') throw new Error(`${file} is in use: SQLite does not close its log.`)
  } finally {
    connection.close()
  }
  syncPath(file)
  renameSync(file, as)
  syncPath(dirname(as))
}
