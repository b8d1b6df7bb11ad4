import { type BigIntStats, statSync } from 'node:fs'

/**
 * Watches that the names of an open database still lead to the files that are open.
 *
 * In WAL mode SQLite goes on writing into a file that somebody has deleted or replaced, and every commit succeeds until
 * the last handle closes and takes the bytes along.
 */
export function movedCheck(file: string): () => boolean {
  const names = [file, `${file}-wal`]
  const opened = names.map(identityOf)
  return () => names.some((name, index) => identityOf(name) !== opened[index])
}

function identityOf(name: string): string | undefined {
  const stats: BigIntStats | undefined = statSync(name, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`
}
