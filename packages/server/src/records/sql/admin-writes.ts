import type { Sql, Steps } from './sql.ts'

/** What is noted for whoever runs the service. */
export function prepareAdminWrites(db: Sql) {
  const note = db.prepare<[string, number]>(
    'INSERT INTO stored_days (day, bytes) VALUES (?, ?) ON CONFLICT (day) DO UPDATE SET bytes = excluded.bytes',
  )

  return {
    *noteStored({ day, bytes }: { day: string; bytes: number }): Steps<void> {
      yield* note.run(day, bytes)
    },
  }
}
