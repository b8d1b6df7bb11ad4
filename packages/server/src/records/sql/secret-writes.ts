import type { Sql, Steps } from './sql.ts'

/** What processes on several machines have to know alike. Each function runs inside the caller's transaction. */
export function prepareSecretWrites(db: Sql) {
  const find = db.prepare<[string], string>('SELECT value FROM secrets WHERE name = ?').pluck()
  const insert = db.prepare<[string, string]>('INSERT INTO secrets (name, value) VALUES (?, ?)')
  const replace = db.prepare<[string, string]>(
    'INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )

  return {
    /** Keeps it unless there is one; answers the one that there is now. */
    *offer({ name, value }: { name: string; value: string }): Steps<string> {
      const kept = yield* find.get(name)
      if (kept !== undefined) return kept
      yield* insert.run(name, value)
      return value
    },

    *replace({ name, value }: { name: string; value: string }): Steps<void> {
      yield* replace.run(name, value)
    },
  }
}
