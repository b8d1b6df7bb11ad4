import type { Connection } from './connection.ts'

/** Reads of challenges. */
export function prepareChallengeReads(db: Connection) {
  const open = db.prepare<[string, number], { email: string; label: string }>(
    'SELECT email, label FROM challenges WHERE id = ? AND expires_at > ?',
  )
  return {
    find: ({ id, now }: { id: string; now: number }): { email: string; label: string } | undefined => open.get(id, now),
  }
}
