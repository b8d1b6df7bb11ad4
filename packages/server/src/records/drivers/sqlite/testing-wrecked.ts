import { truncateSync } from 'node:fs'
import { SQLITE_MIGRATIONS } from '../../migrations/sqlite.ts'
import { openConnection } from './connection.ts'

/** Makes every open handle forget the pages that it has in memory: a change by somebody else does. */
export function emptyCaches(file: string): void {
  const connection = openConnection(file)
  connection.pragma(`user_version = ${SQLITE_MIGRATIONS.length}`)
  connection.close()
}

/** Cuts the database and its log to nothing under the open handles, as a failing disk might. */
export function wreck(file: string): void {
  emptyCaches(file)
  truncateSync(`${file}-wal`, 0)
  truncateSync(file, 0)
}
