import Database from 'better-sqlite3'

/** The version of a database file's schema, 0 for one without. Changes nothing. @throws {Error} when it is no database. */
export function schemaVersionOf(file: string): number {
  const connection = new Database(file, { readonly: true, fileMustExist: true })
  try {
    return Number(connection.pragma('user_version', { simple: true }))
  } finally {
    connection.close()
  }
}
