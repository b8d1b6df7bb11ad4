import { QUAD_PADDED_BYTES, QUAD_RAW_BYTES } from './piece-size.ts'

/** Four quads are the least that is whole 32-bit words on both sides: 127 raw words, 128 padded ones, 16 leaves. */
const GROUP_RAW_WORDS = 127
const GROUP_PADDED_WORDS = 128
const WORD_BYTES = 4
/** The last word of a leaf without its top two bits. */
const LAST_WORD_MASK = 0x3fffffff
const IS_LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/**
 * Spreads raw bytes over field elements: two zero bits follow every 254 bits, bits counted from the lowest of a byte.
 *
 * Fastest when both arrays begin at a multiple of four bytes of their buffers.
 *
 * @param raw - a multiple of 127 bytes; what is shorter is filled with zeros by the caller.
 * @param padded - where the result goes, 128 bytes for every 127. It must not overlap `raw`. A new array by default.
 * @returns `padded`.
 * @throws {TypeError} when the lengths are not of this form.
 * @see https://spec.filecoin.io/#section-systems.filecoin_files.piece.data-representation
 *
 * @example
 * padFr32(new Uint8Array(127).fill(0xff)).at(31) // 0x3f
 */
export function padFr32(raw: Uint8Array, padded: Uint8Array = new Uint8Array(paddedLength(raw))): Uint8Array {
  if (padded.length !== paddedLength(raw)) {
    throw new TypeError(`${raw.length} raw bytes are ${paddedLength(raw)} padded bytes, not ${padded.length}`)
  }
  convertGroups(raw, GROUP_RAW_WORDS, padded, GROUP_PADDED_WORDS, padWords)
  return padded
}

/**
 * Takes the raw bytes back out of padded ones; undoes {@link padFr32}.
 *
 * The top two bits of every 32 bytes are dropped without being looked at.
 *
 * @param padded - a multiple of 128 bytes.
 * @param raw - where the result goes, 127 bytes for every 128. It must not overlap `padded`. A new array by default.
 * @returns `raw`.
 * @throws {TypeError} when the lengths are not of this form.
 */
export function unpadFr32(padded: Uint8Array, raw: Uint8Array = new Uint8Array(rawLength(padded))): Uint8Array {
  if (raw.length !== rawLength(padded)) {
    throw new TypeError(`${padded.length} padded bytes are ${rawLength(padded)} raw bytes, not ${raw.length}`)
  }
  convertGroups(padded, GROUP_PADDED_WORDS, raw, GROUP_RAW_WORDS, unpadWords)
  return raw
}

function paddedLength(raw: Uint8Array): number {
  if (raw.length % QUAD_RAW_BYTES !== 0) throw new TypeError(`${raw.length} is not a multiple of 127 bytes`)
  return (raw.length / QUAD_RAW_BYTES) * QUAD_PADDED_BYTES
}

function rawLength(padded: Uint8Array): number {
  if (padded.length % QUAD_PADDED_BYTES !== 0) throw new TypeError(`${padded.length} is not a multiple of 128 bytes`)
  return (padded.length / QUAD_PADDED_BYTES) * QUAD_RAW_BYTES
}

type ConvertWords = (source: Uint32Array, target: Uint32Array) => void

/** Converts whole groups in place where the memory allows it, and the others one by one through words of their own. */
function convertGroups(
  source: Uint8Array,
  sourceGroupWords: number,
  target: Uint8Array,
  targetGroupWords: number,
  convert: ConvertWords,
): void {
  const sourceGroupBytes = WORD_BYTES * sourceGroupWords
  const targetGroupBytes = WORD_BYTES * targetGroupWords
  const isAligned = source.byteOffset % WORD_BYTES === 0 && target.byteOffset % WORD_BYTES === 0
  const groups = isAligned && IS_LITTLE_ENDIAN ? Math.floor(source.length / sourceGroupBytes) : 0
  if (groups > 0) {
    convert(
      new Uint32Array(source.buffer, source.byteOffset, groups * sourceGroupWords),
      new Uint32Array(target.buffer, target.byteOffset, groups * targetGroupWords),
    )
  }
  if (groups * sourceGroupBytes === source.length) return

  const sourceWords = new Uint32Array(sourceGroupWords)
  const targetWords = new Uint32Array(targetGroupWords)
  const bytes = new DataView(new ArrayBuffer(Math.max(sourceGroupBytes, targetGroupBytes)))
  const staged = new Uint8Array(bytes.buffer)
  for (let group = groups; group * sourceGroupBytes < source.length; group += 1) {
    // Behind a last group that is not whole, what an earlier one left only reaches bytes that are cut off below.
    staged.set(source.subarray(group * sourceGroupBytes, (group + 1) * sourceGroupBytes))
    for (let word = 0; word < sourceGroupWords; word += 1) sourceWords[word] = bytes.getUint32(WORD_BYTES * word, true)
    convert(sourceWords, targetWords)
    for (let word = 0; word < targetGroupWords; word += 1) {
      bytes.setUint32(WORD_BYTES * word, targetWords[word] ?? 0, true)
    }
    const lengthBytes = Math.min(targetGroupBytes, target.length - group * targetGroupBytes)
    target.set(staged.subarray(0, lengthBytes), group * targetGroupBytes)
  }
}

/** The leaf at place k of a group begins `2 * k` bits before a word ends, the first at a word's lowest bit. */
function padWords(raw: Uint32Array, padded: Uint32Array): void {
  let from = 0
  let to = 0
  while (from < raw.length) {
    for (let word = 0; word < 7; word += 1) padded[to++] = raw[from++] ?? 0
    let held = raw[from++] ?? 0
    padded[to++] = held & LAST_WORD_MASK
    for (let shift = 30; shift > 0; shift -= 2) {
      for (let word = 0; word < 7; word += 1) {
        const next = raw[from++] ?? 0
        padded[to++] = (held >>> shift) | (next << (32 - shift))
        held = next
      }
      // The last leaf of a group ends where a word ends.
      const next = shift > 2 ? (raw[from++] ?? 0) : 0
      padded[to++] = ((held >>> shift) | (next << (32 - shift))) & LAST_WORD_MASK
      held = next
    }
  }
}

function unpadWords(padded: Uint32Array, raw: Uint32Array): void {
  let from = 0
  let to = 0
  while (from < padded.length) {
    for (let word = 0; word < 7; word += 1) raw[to++] = padded[from++] ?? 0
    let held = (padded[from++] ?? 0) & LAST_WORD_MASK
    for (let shift = 30; shift > 0; shift -= 2) {
      for (let word = 0; word < 8; word += 1) {
        const next = (padded[from++] ?? 0) & (word === 7 ? LAST_WORD_MASK : -1)
        raw[to++] = held | (next << shift)
        held = next >>> (32 - shift)
      }
    }
  }
}
