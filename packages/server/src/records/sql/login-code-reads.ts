import type { Sql, Steps } from './sql.ts'

interface OpenLoginCode {
  readonly email: string
  readonly label: string
}

/** Reads of login codes. */
export function prepareLoginCodeReads(db: Sql) {
  const open = db.prepare<[string, number], OpenLoginCode>(
    'SELECT email, label FROM challenges WHERE id = ? AND expires_at > ?',
  )
  return {
    find: ({ id, now }: { id: string; now: number }): Steps<OpenLoginCode | undefined> => open.get(id, now),
  }
}
