import { readSync } from 'node:fs'

export const HEADER_BYTES = 32
export const FRAME_HEADER_BYTES = 24
/** The last bit says in which order the bytes of a word are summed. */
const MAGIC = 0x377f0682

/** A running checksum, as SQLite has it. */
export type Sums = readonly [number, number]

/** The header of a log. Source: https://sqlite.org/fileformat2.html, section 4.1. */
export interface LogHeader {
  readonly bytes: Buffer
  readonly pageBytes: number
  readonly isBigEndian: boolean
  readonly salts: Sums
  readonly sums: Sums
}

/** @returns undefined where the file does not begin like a log. */
export function readLogHeader(fd: number): LogHeader | undefined {
  const bytes = Buffer.alloc(HEADER_BYTES)
  if (readSync(fd, bytes, 0, HEADER_BYTES, 0) < HEADER_BYTES) return undefined
  const magic = bytes.readUInt32BE(0)
  const pageBytes = bytes.readUInt32BE(8)
  const isPageSize = pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0
  if ((magic & ~1) !== MAGIC || !isPageSize) return undefined
  const isBigEndian = (magic & 1) === 1
  const sums: Sums = [bytes.readInt32BE(24), bytes.readInt32BE(28)]
  const view = new DataView(bytes.buffer, bytes.byteOffset, 24)
  if (!isEqual(sumOf(view, isBigEndian, [0, 0]), sums)) return undefined
  return { bytes, pageBytes, isBigEndian, salts: [bytes.readInt32BE(16), bytes.readInt32BE(20)], sums }
}

/** True for a frame that was written since the log was last begun. */
export function isOfThisTurn(frame: DataView, { salts }: LogHeader): boolean {
  return isEqual([frame.getInt32(8), frame.getInt32(12)], salts)
}

/** The checksum that a frame says it has. */
export function storedSums(frame: DataView): Sums {
  return [frame.getInt32(16), frame.getInt32(20)]
}

/** True when the checksum of a frame goes on from `before`. */
export function sumsGoOn(frame: DataView, { isBigEndian }: LogHeader, before: Sums): boolean {
  return isEqual(frameSums(frame, isBigEndian, before), storedSums(frame))
}

function frameSums(frame: DataView, isBigEndian: boolean, before: Sums): Sums {
  const head = sumOf(new DataView(frame.buffer, frame.byteOffset, 8), isBigEndian, before)
  const page = new DataView(frame.buffer, frame.byteOffset + FRAME_HEADER_BYTES, frame.byteLength - FRAME_HEADER_BYTES)
  return sumOf(page, isBigEndian, head)
}

function sumOf(words: DataView, isBigEndian: boolean, [first, second]: Sums): Sums {
  let one = first
  let other = second
  for (let at = 0; at < words.byteLength; at += 8) {
    one = (one + words.getInt32(at, !isBigEndian) + other) | 0
    other = (other + words.getInt32(at + 4, !isBigEndian) + one) | 0
  }
  return [one, other]
}

function isEqual(one: Sums, other: Sums): boolean {
  return one[0] === other[0] && one[1] === other[1]
}
