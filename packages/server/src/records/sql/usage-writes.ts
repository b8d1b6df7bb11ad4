import { isAddressId, WALLET_ADDRESSES } from '../../quota-rule/address-as-token.ts'
import { type FileRow, storedBytesOf } from './file-row.ts'
import { prepareForRows } from './many.ts'
import { nothing, type Sql, type SqlValue, type Steps, together } from './sql.ts'

/** What a file is charged, and whom: the principal's day. */
export interface Charge {
  readonly day: string
  /** Of a composed file, what repeated parts add: each was charged once by itself. */
  readonly bytes: number
  /** The token that it is charged to as well; undefined where that has no quota of its own. */
  readonly token?: string | undefined
  /** Takes what the file adds, where that is written later by `filesAdded`. @default it is written with the file */
  readonly sum?: (added: AddedFiles) => void
}

/** What files add to the counters of a day: what is charged, and what is stored. */
export interface AddedFiles {
  /** What is charged: 0 for an empty file and most composed ones, which count as files all the same. */
  readonly bytes: number
  readonly storedBytes: number
  readonly files: number
}

/** What ends, of what was charged to a principal's day. */
export interface EndedFile {
  readonly principal: string
  readonly day: string
  /** What was stored for it. */
  readonly bytes: number
}

/**
 * The counters of a principal's day: what was charged to it, and what of that is stored still. Runs inside the caller's transaction,
 * which adds or ends the file.
 */
export function prepareUsageWrites(db: Sql) {
  const add = db.prepare<AddedFiles & { principal: string; day: string }>(
    `INSERT INTO usage (principal, day, bytes, files, stored_bytes, stored_files)
     VALUES (:principal, :day, :bytes, :files, :storedBytes, :files)
     ON CONFLICT (principal, day) DO UPDATE SET bytes = usage.bytes + excluded.bytes, files = usage.files + excluded.files,
       stored_bytes = usage.stored_bytes + excluded.stored_bytes, stored_files = usage.stored_files + excluded.stored_files`,
  )
  const whole = db.dialect.whole('?')
  // As the table has them, each day once.
  const takeOff = prepareForRows(
    db,
    `(?, ?, ${whole}, ${whole})`,
    (days) => `UPDATE usage SET stored_bytes = stored_bytes - ended.column3, stored_files = stored_files - ended.column4
       FROM (VALUES ${days}) AS ended WHERE usage.principal = ended.column1 AND usage.day = ended.column2`,
  )
  const putBack = db.prepare<[number, string, string]>(
    'UPDATE usage SET stored_bytes = stored_bytes + ?, stored_files = stored_files + 1 WHERE principal = ? AND day = ?',
  )

  const addToToken = db.prepare<[string, string, string, number]>(
    `INSERT INTO token_usage (principal, day, token, bytes) VALUES (?, ?, ?, ?)
     ON CONFLICT (principal, day, token) DO UPDATE SET bytes = token_usage.bytes + excluded.bytes`,
  )

  /** As `fileEnded`, for many. */
  function* filesEnded(files: readonly EndedFile[]): Steps<void> {
    const days = Map.groupBy(files, ({ principal, day }) => `${principal} ${day}`)
    const rows: SqlValue[][] = []
    for (const ofDay of days.values()) {
      const [first] = ofDay
      const bytes = ofDay.reduce((sum, file) => sum + file.bytes, 0)
      if (first !== undefined) rows.push([first.principal, first.day, bytes, ofDay.length])
    }
    yield* takeOff.run(rows)
  }

  /** As `fileAdded`, for many of one principal, day and token. */
  function* filesAdded(principal: string, { day, token }: Omit<Charge, 'bytes'>, added: AddedFiles): Steps<void> {
    const { bytes } = added
    const isOfToken = token !== undefined && bytes > 0
    yield* together(
      add.run({ principal, day, ...added }),
      isOfToken ? addToToken.run(isAddressId(token) ? WALLET_ADDRESSES : principal, day, token, bytes) : nothing(),
    )
  }

  return {
    filesAdded,

    *fileAdded(principal: string, charge: Charge, storedBytes: number): Steps<void> {
      const { bytes, sum } = charge
      const added = { bytes, storedBytes, files: 1 }
      if (sum === undefined) yield* filesAdded(principal, charge, added)
      else sum(added)
    },

    /** Call once for a file that had ended and goes on after all. */
    *fileRevived(row: FileRow): Steps<void> {
      yield* putBack.run(storedBytesOf(row), row.principal, row.charged_day)
    },

    /** Call once for a file that had not ended. It is taken off its own day, so that it meets no upload of today. */
    *fileEnded(row: FileRow): Steps<void> {
      yield* filesEnded([endedFileOf(row)])
    },

    filesEnded,
  }
}

/** What ends with the file of this row. */
export function endedFileOf(row: FileRow): EndedFile {
  return { principal: row.principal, day: row.charged_day, bytes: storedBytesOf(row) }
}
