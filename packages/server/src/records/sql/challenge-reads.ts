import type { Sql, Steps } from './sql.ts'

interface OpenChallenge {
  readonly email: string
  readonly label: string
}

/** Reads of challenges. */
export function prepareChallengeReads(db: Sql) {
  const open = db.prepare<[string, number], OpenChallenge>(
    'SELECT email, label FROM challenges WHERE id = ? AND expires_at > ?',
  )
  return {
    find: ({ id, now }: { id: string; now: number }): Steps<OpenChallenge | undefined> => open.get(id, now),
  }
}
