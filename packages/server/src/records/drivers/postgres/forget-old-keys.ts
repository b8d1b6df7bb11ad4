import type { Pool } from 'pg'

const EVERY_MS = 600_000
/** Longer than any process tries to find out what became of its write. */
const OLD = "interval '1 hour'"
/** Few enough for one statement to be done soon. */
const BATCH = 20_000

/** Removes the keys of writes that nobody can ask for any more, now and then; answers how to stop that. */
export function forgetOldKeys(pool: Pool): () => void {
  const timer = setInterval(() => {
    // What fails is tried again in a while.
    forget(pool).catch(() => {})
  }, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

async function forget(pool: Pool): Promise<void> {
  let forgotten: number
  do {
    const { rowCount } = await pool.query(
      `DELETE FROM write_keys WHERE key IN (SELECT key FROM write_keys WHERE at < now() - ${OLD} ORDER BY at LIMIT ${BATCH})`,
    )
    forgotten = rowCount ?? 0
  } while (forgotten === BATCH)
}
