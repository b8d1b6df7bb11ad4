import { sha256 } from '@noble/hashes/sha2.js'
import { isNode } from './is-node.ts'
import { equalNodes } from './merkle-path.ts'
import { NODE_BYTES } from './piece-size.ts'
import { INDEX_ENTRY_BYTES, indexEntryCount, indexOffsetBytes, isPlacedBefore, type Segment } from './segment.ts'

const OFFSET_AT = NODE_BYTES
const SIZE_AT = OFFSET_AT + 8
const CHECKSUM_AT = SIZE_AT + 8
const CHECKSUM_BYTES = 16

/** A segment as an entry of an index tells of it. */
export interface IndexEntry {
  /** The entry's place in the index, from 0. */
  readonly entryNumber: number
  readonly segment: Segment
}

/**
 * Writes the entry of an index that tells of a segment: root, offset, size and a checksum over the three.
 *
 * @returns 64 bytes, which stand in the padded bytes of the aggregate as they are: both halves are elements of the field.
 * @throws {TypeError} when the segment's root is no node.
 * @see FRC-0058, "Data Segment Index"
 */
export function writeIndexEntry({ root, paddedOffsetBytes, paddedSizeBytes }: Segment): Uint8Array {
  if (!isNode(root)) throw new TypeError('the root of a segment is 32 bytes whose top two bits are zero')
  const entry = new Uint8Array(INDEX_ENTRY_BYTES)
  const view = new DataView(entry.buffer)
  entry.set(root)
  view.setBigUint64(OFFSET_AT, BigInt(paddedOffsetBytes), true)
  view.setBigUint64(SIZE_AT, BigInt(paddedSizeBytes), true)
  entry.set(checksumOf(entry), CHECKSUM_AT)
  return entry
}

/**
 * Reads an entry of an index. Indexes come from whoever aggregated, so anything may be in them.
 *
 * @param entry - 64 padded bytes.
 * @param aggregateHeight - of the aggregate that the index is of.
 * @returns undefined unless the checksum is right, the root is a node, and the segment is one that an aggregate of this
 *   height can have before its index. An entry that is not in use, all zeros, is undefined, too.
 */
export function readIndexEntry(entry: Uint8Array, aggregateHeight: number): Segment | undefined {
  if (entry.length !== INDEX_ENTRY_BYTES) return undefined
  if (!equalNodes(entry.subarray(CHECKSUM_AT), checksumOf(entry))) return undefined
  const view = new DataView(entry.buffer, entry.byteOffset, entry.length)
  const segment = {
    root: entry.slice(0, NODE_BYTES),
    paddedOffsetBytes: Number(view.getBigUint64(OFFSET_AT, true)),
    paddedSizeBytes: Number(view.getBigUint64(SIZE_AT, true)),
  }
  return isNode(segment.root) && isPlacedBefore(indexOffsetBytes(aggregateHeight), segment) ? segment : undefined
}

/**
 * Writes the whole index of an aggregate, unused entries as zeros.
 *
 * @param segments - in the order of their entries.
 * @returns padded bytes, 64 for each of {@link indexEntryCount}.
 * @throws {TypeError} when there are more segments than entries.
 */
export function writeIndex(segments: readonly Segment[], aggregateHeight: number): Uint8Array {
  const count = indexEntryCount(aggregateHeight)
  if (segments.length > count) throw new TypeError(`an index of ${count} entries has no room for ${segments.length}`)
  const index = new Uint8Array(INDEX_ENTRY_BYTES * count)
  for (const [entryNumber, segment] of segments.entries()) {
    index.set(writeIndexEntry(segment), INDEX_ENTRY_BYTES * entryNumber)
  }
  return index
}

/**
 * Reads every valid entry of an index and passes over the others; see {@link readIndexEntry}.
 *
 * Nothing is compared between entries: they may overlap, and name the same piece twice.
 *
 * @param index - padded bytes from {@link indexOffsetBytes} on, a whole index or its beginning.
 */
export function readIndex(index: Uint8Array, aggregateHeight: number): IndexEntry[] {
  const entries: IndexEntry[] = []
  const count = Math.min(indexEntryCount(aggregateHeight), Math.floor(index.length / INDEX_ENTRY_BYTES))
  for (let entryNumber = 0; entryNumber < count; entryNumber += 1) {
    const at = INDEX_ENTRY_BYTES * entryNumber
    const segment = readIndexEntry(index.subarray(at, at + INDEX_ENTRY_BYTES), aggregateHeight)
    if (segment !== undefined) entries.push({ entryNumber, segment })
  }
  return entries
}

/** The first 126 bits of the sha2-256 of an entry, taken with zeros in the checksum's place. */
function checksumOf(entry: Uint8Array): Uint8Array {
  const unsigned = entry.slice()
  unsigned.fill(0, CHECKSUM_AT)
  const checksum = sha256(unsigned).slice(0, CHECKSUM_BYTES)
  checksum[CHECKSUM_BYTES - 1] = (checksum[CHECKSUM_BYTES - 1] ?? 0) & 0x3f
  return checksum
}
