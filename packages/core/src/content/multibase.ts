import { base2 } from 'multiformats/bases/base2'
import { base8 } from 'multiformats/bases/base8'
import { base10 } from 'multiformats/bases/base10'
import { base16, base16upper } from 'multiformats/bases/base16'
import {
  base32,
  base32hex,
  base32hexpad,
  base32hexpadupper,
  base32hexupper,
  base32pad,
  base32padupper,
  base32upper,
  base32z,
} from 'multiformats/bases/base32'
import { base36, base36upper } from 'multiformats/bases/base36'
import { base58btc, base58flickr } from 'multiformats/bases/base58'
import { base64, base64pad, base64url, base64urlpad } from 'multiformats/bases/base64'

interface Base {
  readonly prefix: string
  readonly name: string
  baseEncode(bytes: Uint8Array): string
  baseDecode(digits: string): Uint8Array
}

/** The bytes that a multibase string stands for. */
export interface MultibaseText {
  /** Name in the multibase table, such as `base32`. */
  readonly multibase: string
  /** False for a base that ids may not be written in here, whatever they hold. */
  readonly accepted: boolean
  readonly bytes: Uint8Array
  /** True when digits are left over after the last whole byte, or its padding bits are not zero. */
  readonly strayBits: boolean
}

interface Row {
  readonly base: Base
  readonly accepted: boolean
  /** Bits of one digit, for the bases that work by bits; undefined for those that work by division. */
  readonly bitsPerDigit?: number
}

const ROWS: readonly Row[] = [
  { base: base32, bitsPerDigit: 5, accepted: true },
  { base: base32upper, bitsPerDigit: 5, accepted: true },
  { base: base36, accepted: true },
  { base: base36upper, accepted: true },
  { base: base16, bitsPerDigit: 4, accepted: true },
  { base: base16upper, bitsPerDigit: 4, accepted: true },
  { base: base58btc, accepted: true },
  { base: base58flickr, accepted: false },
  { base: base2, bitsPerDigit: 1, accepted: false },
  { base: base8, bitsPerDigit: 3, accepted: false },
  { base: base10, accepted: false },
  { base: base32pad, bitsPerDigit: 5, accepted: false },
  { base: base32padupper, bitsPerDigit: 5, accepted: false },
  { base: base32hex, bitsPerDigit: 5, accepted: false },
  { base: base32hexupper, bitsPerDigit: 5, accepted: false },
  { base: base32hexpad, bitsPerDigit: 5, accepted: false },
  { base: base32hexpadupper, bitsPerDigit: 5, accepted: false },
  { base: base32z, bitsPerDigit: 5, accepted: false },
  { base: base64, bitsPerDigit: 6, accepted: false },
  { base: base64pad, bitsPerDigit: 6, accepted: false },
  { base: base64url, bitsPerDigit: 6, accepted: false },
  { base: base64urlpad, bitsPerDigit: 6, accepted: false },
]

const BY_PREFIX: ReadonlyMap<string, Row> = new Map(ROWS.map((row) => [row.base.prefix, row]))

/**
 * Decodes a string by its multibase prefix, for every multibase whose digits can be letters and digits alone.
 *
 * base16, base32 and base36 fold case; base58 and base64 never do. Padding is not asked for where a base has it.
 *
 * @param text - prefix and digits, such as `bafkreih…`.
 * @returns undefined when the prefix is no multibase or a digit is not of its alphabet.
 * @see https://github.com/multiformats/multibase/blob/master/multibase.csv
 *
 * @example
 * decodeMultibase('f0155')?.bytes // Uint8Array [1, 0x55]
 */
export function decodeMultibase(text: string): MultibaseText | undefined {
  const row = BY_PREFIX.get(text.slice(0, 1))
  if (row === undefined) return undefined
  const { base, accepted, bitsPerDigit } = row
  const digits = text.slice(1)
  const whole = decodeDigits(base, digits)
  if (whole !== undefined) return { multibase: base.name, accepted, bytes: whole, strayBits: false }
  if (bitsPerDigit === undefined) return undefined
  const bytes = decodeWholeBytes(base, digits, bitsPerDigit)
  return bytes && { multibase: base.name, accepted, bytes, strayBits: true }
}

/**
 * Writes `bytes` in the multibase whose prefix `like` begins with, in lower case where that base folds case.
 *
 * @throws {TypeError} when `like` begins with no multibase prefix that ids may be written in.
 */
export function encodeMultibaseLike(like: string, bytes: Uint8Array): string {
  const row = BY_PREFIX.get(like.slice(0, 1))
  if (!row?.accepted) throw new TypeError(`${like.slice(0, 1)} is not the prefix of an accepted multibase`)
  const text = row.base.prefix + row.base.baseEncode(bytes)
  return row.base === base58btc ? text : text.toLowerCase()
}

function decodeDigits(base: Base, digits: string): Uint8Array | undefined {
  try {
    return base.baseDecode(digits)
  } catch {
    // The decoders throw for one reason only: these digits are not a whole number of bytes in this alphabet.
    return undefined
  }
}

/** Decodes what a strict decoder refuses for its last digit: the bits up to the last whole byte, the rest dropped. */
function decodeWholeBytes(base: Base, digits: string, bitsPerDigit: number): Uint8Array | undefined {
  const sizeBytes = Math.floor((digits.length * bitsPerDigit) / 8)
  const filler = base.baseEncode(new Uint8Array(1)).slice(0, 1)
  // Zero digits push the stray bits into a byte of their own, which is then cut off.
  for (let extra = 1; extra <= 8; extra += 1) {
    const bytes = decodeDigits(base, digits + filler.repeat(extra))
    if (bytes !== undefined) return bytes.subarray(0, sizeBytes)
  }
  return undefined
}
