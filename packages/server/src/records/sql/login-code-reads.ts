import type { CodesOfEmail } from '../login-code-records.ts'
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
  const awaited = db
    .prepare<[string, string, number], number>(
      'SELECT COUNT(*) FROM challenges WHERE email = ? AND asked_by = ? AND expires_at > ?',
    )
    .pluck()
  return {
    *isAwaited({ email, askedBy, now }: CodesOfEmail): Steps<boolean> {
      return ((yield* awaited.get(email, askedBy, now)) ?? 0) > 0
    },

    find: ({ id, now }: { id: string; now: number }): Steps<OpenLoginCode | undefined> => open.get(id, now),
  }
}
