import Database from 'better-sqlite3'
import type { InventoryRecords } from '../../record-store.ts'
import { prepareInventoryReads } from '../../sql/inventory-reads.ts'
import { read } from './read.ts'
import { runNow, sqliteSql } from './sqlite-sql.ts'

/** A database file that nobody writes to, looked into. */
export interface SnapshotFile {
  readonly inventory: Pick<InventoryRecords, 'stored'>
  /** Small bytes that the records have; undefined when they have none under this digest. */
  inlineBytes(sha256: string): Uint8Array | undefined
  /** Files that have not ended. */
  liveFiles(): number
  close(): void
}

/** Opens a database file of the newest schema to read. @throws {Error} when it is no such file. */
export function openSnapshotFile({ file }: { readonly file: string }): SnapshotFile {
  const connection = new Database(file, { readonly: true, fileMustExist: true })
  try {
    const { stored } = prepareInventoryReads(sqliteSql(connection))
    const inline = inlineReader(connection)
    const live = connection.prepare<[], number>('SELECT count(*) FROM files WHERE ended_at IS NULL').pluck()
    return {
      inventory: { stored: (request) => read(() => runNow(stored(request))) },
      inlineBytes: inline,
      liveFiles: () => live.get() ?? 0,
      close: () => void connection.close(),
    }
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Small bytes of a file of any schema. */
export function openInlineBytes({ file }: { readonly file: string }): Pick<SnapshotFile, 'inlineBytes' | 'close'> {
  const connection = new Database(file, { readonly: true, fileMustExist: true })
  try {
    return { inlineBytes: inlineReader(connection), close: () => void connection.close() }
  } catch (error) {
    connection.close()
    throw error
  }
}

/** The secret of this name in a file of any schema that has secrets. */
export function secretIn({ file, name }: { readonly file: string; readonly name: string }): string | undefined {
  const connection = new Database(file, { readonly: true, fileMustExist: true })
  try {
    return connection.prepare<[string], string>('SELECT value FROM secrets WHERE name = ?').pluck().get(name)
  } finally {
    connection.close()
  }
}

function inlineReader(connection: Database.Database): SnapshotFile['inlineBytes'] {
  const inline = connection
    .prepare<[string], Uint8Array | null>(
      "SELECT coalesce(inline, inline_v1) FROM objects WHERE sha256 = ? AND place = 'inline'",
    )
    .pluck()
  return (sha256) => inline.get(sha256) ?? undefined
}
