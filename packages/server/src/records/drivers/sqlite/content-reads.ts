import type { Connection } from './connection.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, opaqueNameOf } from './file-row.ts'

export type ContentReads = ReturnType<typeof prepareContentReads>

/** Finds what a content key means: its object, and a principal's live file of it. For reads and writes alike. */
export function prepareContentReads(db: Connection) {
  const objectOfDigest = db.prepare<[string], number>('SELECT id FROM objects WHERE sha256 = ?').pluck()
  const objectOfName = db.prepare<[string], number>('SELECT object FROM names WHERE name = ?').pluck()
  const digestOfName = db
    .prepare<[string], string>('SELECT sha256 FROM names JOIN objects ON objects.id = names.object WHERE name = ?')
    .pluck()
  const live = db.prepare<[string, number, string], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS}
     WHERE principal = ? AND object = ? AND name = ? AND ended_at IS NULL`,
  )

  const objectOf = (key: string): number | undefined => {
    const name = opaqueNameOf(key)
    return name === '' ? objectOfDigest.get(key.slice('sha256:'.length)) : objectOfName.get(name)
  }

  return {
    objectOf,
    objectOfDigest: (sha256: string): number | undefined => objectOfDigest.get(sha256),

    /** The digest that an opaque key is bound to; undefined for a free one and for a key that is a digest. */
    boundSha256(key: string): string | undefined {
      const name = opaqueNameOf(key)
      return name === '' ? undefined : digestOfName.get(name)
    },

    /** The principal's file under this key that has not been ended; its term may be over. */
    liveFile(principal: string, key: string): FileRow | undefined {
      const object = objectOf(key)
      return object === undefined ? undefined : live.get(principal, object, opaqueNameOf(key))
    },
  }
}
