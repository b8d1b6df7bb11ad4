import type { Sql, Steps } from './sql.ts'

/** The revision of what operators forbid, by which processes find that something has changed. Runs inside the caller's transaction. */
export function prepareRevisions(db: Sql, name: 'takedowns' | 'callers') {
  const raise = db
    .prepare<[string], number>(
      `INSERT INTO moderation_revisions (name, revision) VALUES (?, 1)
       ON CONFLICT (name) DO UPDATE SET revision = moderation_revisions.revision + 1 RETURNING revision`,
    )
    .pluck()

  return {
    *nextRevision(): Steps<number> {
      return (yield* raise.get(name)) ?? 1
    },
  }
}
