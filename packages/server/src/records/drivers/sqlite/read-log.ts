import { closeSync, openSync, readSync } from 'node:fs'
import { FRAME_HEADER_BYTES, HEADER_BYTES, isOfThisTurn, readLogHeader, storedSums, sumsGoOn } from './log-format.ts'

const FRAMES_AT_ONCE = 256

/** What a log of SQLite holds that a recovery would take. */
export interface LogContent {
  readonly pageBytes: number
  /** Frames up to the last commit. */
  readonly committedFrames: number
  /** The numbers, from 1, of all pages that have a frame. */
  readonly pages: ReadonlySet<number>
}

/**
 * Reads a log as a recovery does: frames of this turn of the log, up to the first one whose checksum does not continue that of the one before.
 *
 * @returns undefined when the file does not begin like a log.
 */
export function readLog(file: string): LogContent | undefined {
  const fd = openSync(file, 'r')
  try {
    const header = readLogHeader(fd)
    if (header === undefined) return undefined
    const { pageBytes } = header
    const frameBytes = FRAME_HEADER_BYTES + pageBytes
    const frames = Buffer.alloc(FRAMES_AT_ONCE * frameBytes)
    const pages = new Set<number>()
    let { sums } = header
    let count = 0
    let committedFrames = 0
    for (;;) {
      const read = readSync(fd, frames, 0, frames.length, HEADER_BYTES + count * frameBytes)
      for (let at = 0; at + frameBytes <= read; at += frameBytes) {
        const frame = new DataView(frames.buffer, frames.byteOffset + at, frameBytes)
        if (!isOfThisTurn(frame, header) || !sumsGoOn(frame, header, sums)) return { pageBytes, committedFrames, pages }
        sums = storedSums(frame)
        count += 1
        pages.add(frame.getUint32(0))
        if (frame.getUint32(4) !== 0) committedFrames = count
      }
      if (read < frames.length) return { pageBytes, committedFrames, pages }
    }
  } finally {
    closeSync(fd)
  }
}
