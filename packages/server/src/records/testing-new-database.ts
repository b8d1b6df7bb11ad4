import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openConnection } from './drivers/sqlite/connection.ts'
import { migrate } from './drivers/sqlite/migrate.ts'

let empty: Buffer | undefined

/** Writes the database that a first start would make, which is faster than its migrations. @returns `file` */
export function newDatabase(file: string): string {
  empty ??= migrated()
  writeFileSync(file, empty, { flag: 'wx' })
  return file
}

function migrated(): Buffer {
  const dir = mkdtempSync(join(tmpdir(), 'lade-new-database-'))
  try {
    const connection = openConnection(join(dir, 'lade.db'))
    migrate(connection)
    connection.close()
    return readFileSync(join(dir, 'lade.db'))
  } finally {
    rmSync(dir, { recursive: true })
  }
}
