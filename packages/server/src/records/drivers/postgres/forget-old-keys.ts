import type { Pool } from 'pg'

const EVERY_MS = 600_000
/** Longer than any process tries to find out what became of its write. */
const OLD = "interval '1 hour'"

/** Removes the keys of writes that nobody can ask for any more, now and then; answers how to stop that. */
export function forgetOldKeys(pool: Pool): () => void {
  const timer = setInterval(() => {
    // What fails is tried again in a while.
    pool.query(`DELETE FROM write_keys WHERE at < now() - ${OLD}`).catch(() => {})
  }, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
