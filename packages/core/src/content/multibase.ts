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
import { type Base, type DigitTable, decodeBits, decodeNumber, digitTable } from '../dag/digits.ts'

interface NamedBase extends Base {
  readonly prefix: string
  readonly name: string
  baseEncode(bytes: Uint8Array): string
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

/** A base works by bits, so many a digit, or by division. */
type Row = { readonly base: NamedBase; readonly accepted: boolean } & (
  | { readonly bitsPerDigit: number }
  | { readonly divisor: number }
)

const ROWS: readonly Row[] = [
  { base: base32, bitsPerDigit: 5, accepted: true },
  { base: base32upper, bitsPerDigit: 5, accepted: true },
  { base: base36, divisor: 36, accepted: true },
  { base: base36upper, divisor: 36, accepted: true },
  { base: base16, bitsPerDigit: 4, accepted: true },
  { base: base16upper, bitsPerDigit: 4, accepted: true },
  { base: base58btc, divisor: 58, accepted: true },
  { base: base58flickr, divisor: 58, accepted: false },
  { base: base2, bitsPerDigit: 1, accepted: false },
  { base: base8, bitsPerDigit: 3, accepted: false },
  { base: base10, divisor: 10, accepted: false },
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
  const { base, accepted } = row
  const digits = text.slice(1)
  const table = tableOf(row)
  if ('divisor' in row) {
    const bytes = decodeNumber(digits, table, row.divisor)
    return bytes && { multibase: base.name, accepted, bytes, strayBits: false }
  }
  const decoded = decodeBits(digits, table, row.bitsPerDigit)
  return decoded && { multibase: base.name, accepted, ...decoded }
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

/** Made when a base is met first. */
const tables = new Map<Row, DigitTable>()

function tableOf(row: Row): DigitTable {
  const known = tables.get(row)
  if (known !== undefined) return known
  const table = digitTable(row.base, 'divisor' in row ? undefined : row.bitsPerDigit)
  tables.set(row, table)
  return table
}
