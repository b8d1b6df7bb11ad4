/** What the digits of a base stand for, and whether bits were left over behind the last whole byte. */
export interface DecodedDigits {
  readonly bytes: Uint8Array
  readonly strayBits: boolean
}

/** The value of each digit by its character code; 255 for a character that is no digit. */
export type DigitTable = Uint8Array

const NO_DIGIT = 255
const CHARACTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A base as multiformats has it. */
export interface Base {
  baseDecode(digits: string): Uint8Array
}

/**
 * The table of a base whose digits are letters and numbers.
 *
 * @param bitsPerDigit - for a base that works by bits. @default undefined: the digits are those of one number
 */
export function digitTable(base: Base, bitsPerDigit?: number): DigitTable {
  // Eight digits are whole bytes in every base of bits, and one is a number.
  const [count, shift] = bitsPerDigit === undefined ? [1, 0] : [8, 8 - bitsPerDigit]
  const table = new Uint8Array(128).fill(NO_DIGIT)
  for (const character of CHARACTERS) {
    try {
      table[character.charCodeAt(0)] = (base.baseDecode(character.repeat(count))[0] ?? 0) >> shift
    } catch {
      // It is no digit of this base.
    }
  }
  return table
}

/**
 * Decodes digits of so many bits each, in time in proportion to their number whatever they are.
 *
 * @returns undefined when there is one that is no digit.
 */
export function decodeBits(digits: string, table: DigitTable, bitsPerDigit: number): DecodedDigits | undefined {
  const bytes = new Uint8Array(Math.floor((digits.length * bitsPerDigit) / 8))
  let count = 0
  let held = 0
  let heldBits = 0
  for (let place = 0; place < digits.length; place += 1) {
    const value = table[digits.charCodeAt(place)] ?? NO_DIGIT
    if (value === NO_DIGIT) return undefined
    held = (held << bitsPerDigit) | value
    heldBits += bitsPerDigit
    if (heldBits < 8) continue
    heldBits -= 8
    bytes[count] = held >> heldBits
    count += 1
    held &= (1 << heldBits) - 1
  }
  return { bytes, strayBits: heldBits >= bitsPerDigit || held !== 0 }
}

/** Digits that are taken together. A limb times 58 to this power is a safe integer. */
const DIGITS_AT_ONCE = 4
const LIMB_BYTES = 3
const LIMB = 2 ** 24

/**
 * Decodes digits as one number, each leading zero as a byte of its own.
 *
 * @param base - at most 58.
 * @returns undefined when there is one that is no digit.
 */
export function decodeNumber(digits: string, table: DigitTable, base: number): Uint8Array | undefined {
  let zeroes = 0
  while (table[digits.charCodeAt(zeroes)] === 0) zeroes += 1
  const limbs: number[] = []
  for (let place = zeroes; place < digits.length; place += DIGITS_AT_ONCE) {
    const end = Math.min(place + DIGITS_AT_ONCE, digits.length)
    let carry = 0
    for (let index = place; index < end; index += 1) {
      const value = table[digits.charCodeAt(index)] ?? NO_DIGIT
      if (value === NO_DIGIT) return undefined
      carry = carry * base + value
    }
    const scale = base ** (end - place)
    for (let index = 0; index < limbs.length; index += 1) {
      const product = (limbs[index] ?? 0) * scale + carry
      carry = Math.floor(product / LIMB)
      limbs[index] = product - carry * LIMB
    }
    if (carry > 0) limbs.push(carry)
  }
  const top = limbs.at(-1) ?? 0
  const topBytes = top === 0 ? 0 : Math.floor(Math.log2(top) / 8) + 1
  const bytes = new Uint8Array(zeroes + Math.max(0, limbs.length - 1) * LIMB_BYTES + topBytes)
  let place = bytes.length
  for (const limb of limbs) {
    for (let shift = 0; shift < 8 * LIMB_BYTES && place > zeroes; shift += 8) {
      place -= 1
      bytes[place] = limb >> shift
    }
  }
  return bytes
}
