import { sha256Hex } from '@lade/node/hashing/sha256'
import type { FileEnd } from '../record-store.ts'
import type { Sql, Steps } from './sql.ts'

const DIGEST_HEX_DIGITS = 24
const ENDS: readonly FileEnd[] = ['expired', 'removed', 'composed']

/** Names of files that are gone from the records, and how those ended. For reads and writes alike. */
export function prepareEndedKeys(db: Sql) {
  const find = db.prepare<[Buffer], number>('SELECT how_ended FROM ended_keys WHERE digest = ?').pluck()
  const keep = db.prepare<[Buffer, number]>(
    `INSERT INTO ended_keys (digest, how_ended) VALUES (?, ?)
     ON CONFLICT (digest) DO UPDATE SET how_ended = excluded.how_ended`,
  )

  return {
    /** How the last file of this key ended that the caller may know of; undefined where there was none. */
    *endOfKey(key: string, principal: string): Steps<FileEnd | undefined> {
      const end = (yield* find.get(digestOf(key))) ?? (yield* find.get(digestOf(key, principal)))
      return end === undefined ? undefined : ENDS[end - 1]
    },

    /** A private file is known to its owner alone. */
    *keepEnd(key: string, end: FileEnd, owner: string | undefined): Steps<void> {
      yield* keep.run(digestOf(key, owner), 1 + ENDS.indexOf(end))
    },
  }
}

/** Enough that no two names meet. */
function digestOf(key: string, owner?: string): Buffer {
  const text = owner === undefined ? key : `${key}\n${owner}`
  return Buffer.from(sha256Hex(Buffer.from(text)).slice(0, DIGEST_HEX_DIGITS), 'hex')
}
