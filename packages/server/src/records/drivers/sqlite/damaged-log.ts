import { closeSync, copyFileSync, existsSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { openExclusively } from './connection.ts'
import {
  FRAME_HEADER_BYTES,
  HEADER_BYTES,
  isOfThisTurn,
  type LogHeader,
  readLogHeader,
  type Sums,
  storedSums,
  sumsGoOn,
} from './log-format.ts'
import { syncPath } from './sync-path.ts'

const BATCH_BYTES = 1024 * 1024

/** A log in which transactions that were on the medium can be read no more. */
export interface DamagedLog {
  readonly path: string
  /** Where the first frame is that is not what was written. */
  readonly offset: number
  /** Whole transactions behind it. All of them were acknowledged, but perhaps the last one. */
  readonly laterTransactions: number
}

/**
 * Finds damage in the middle of a database's log, which SQLite takes for its end without a word. Call it before SQLite opens the
 * database; nothing is written.
 *
 * A power cut is never taken for damage. SQLite begins a transaction only when the one before it is on the medium, so a power cut can tear
 * the last one alone. Here two whole transactions have to follow each other behind the broken frame, or one that the broken frame is not
 * part of: each frame's checksum goes on from that of the frame before it, so what is left of older transactions does not look like that.
 *
 * @returns undefined for a log that is whole, torn at its end, empty, or absent, and for one whose header is damaged.
 */
export function findDamagedLog(file: string): DamagedLog | undefined {
  const path = `${file}-wal`
  if (!existsSync(path)) return undefined
  const first = scan(path)
  // Another process may be writing to it.
  return first !== undefined && scan(path)?.offset === first.offset ? first : undefined
}

/** @throws {Error} for a damaged log, with what it means. */
export function refuseDamagedLog(file: string): void {
  const damaged = findDamagedLog(file)
  if (damaged === undefined) return
  throw new Error(
    `${describeDamagedLog(damaged)} Nothing was changed. Restore a backup, or run "lade doctor --adopt" to see what happens if you continue without these transactions`,
  )
}

export function describeDamagedLog({ path, offset, laterTransactions }: DamagedLog): string {
  const lost = laterTransactions === 1 ? '1 acknowledged transaction' : `${laterTransactions} acknowledged transactions`
  return `${path} is damaged at byte ${offset}, so ${lost} after that byte cannot be read.`
}

/**
 * Keeps a copy of a damaged log, and goes on without what cannot be read of it.
 *
 * @returns the path of the copy; undefined, with nothing changed, when another process has the database open.
 */
export function dropDamagedLog(file: string, now: Date): string | undefined {
  const connection = openExclusively(file, 0)
  if (connection === undefined) return undefined
  try {
    const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
    const copy = `${file}-wal.damaged-${stamp}`
    copyFileSync(`${file}-wal`, copy)
    for (const path of [copy, dirname(copy)]) syncPath(path)
    // The frames behind the damage would be found again.
    connection.pragma('wal_checkpoint(TRUNCATE)')
    return copy
  } finally {
    connection.close()
  }
}

function scan(path: string): DamagedLog | undefined {
  const fd = openSync(path, 'r')
  try {
    const header = readLogHeader(fd)
    if (header === undefined) return undefined
    const found = scanFrames(fd, header)
    // A log that was begun again meanwhile was read half old and half new.
    const isSame = readLogHeader(fd)?.bytes.equals(header.bytes) === true
    return found && isSame ? { path, ...found } : undefined
  } finally {
    closeSync(fd)
  }
}

function scanFrames(fd: number, header: LogHeader): Omit<DamagedLog, 'path'> | undefined {
  const frameBytes = FRAME_HEADER_BYTES + header.pageBytes
  const batch = Buffer.alloc(Math.ceil(BATCH_BYTES / frameBytes) * frameBytes)
  /** What the next frame goes on from; undefined where that is not known. */
  let sums: Sums | undefined = header.sums
  let brokenAt: number | undefined
  let laterTransactions = 0
  for (let position = HEADER_BYTES; ; ) {
    const length = readSync(fd, batch, 0, batch.length, position)
    for (let start = 0; start + frameBytes <= length; start += frameBytes) {
      const frame = new DataView(batch.buffer, batch.byteOffset + start, frameBytes)
      const isCurrent = isOfThisTurn(frame, header)
      const stored = storedSums(frame)
      const isCommit = isCurrent && frame.getUint32(4) !== 0
      const goesOn = sums !== undefined && isCurrent && sumsGoOn(frame, header, sums)
      if (goesOn) {
        sums = stored
        if (brokenAt !== undefined && isCommit) laterTransactions += 1
      } else {
        brokenAt ??= position + start
        // Behind the end of a transaction the next one can be told, whatever is before it.
        sums = isCommit ? stored : undefined
      }
    }
    position += length
    if (length < batch.length) break
  }
  return brokenAt !== undefined && laterTransactions > 0 ? { offset: brokenAt, laterTransactions } : undefined
}
