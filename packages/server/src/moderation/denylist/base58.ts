/*
 * Base58 as Bitcoin writes it, several digits at a time: multihashes are written many times as fast as by the library, which goes digit by
 * digit. A list with hashed rules makes it necessary to write out every CID that somebody asks for.
 */

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const BASE = 58
/** As many digits as fit an ordinary number. */
const DIGITS = 9
const CHUNK = BigInt(BASE) ** BigInt(DIGITS)
const VALUES: ReadonlyMap<string, number> = new Map([...ALPHABET].map((digit, value) => [digit, value]))
const PAIRS: readonly string[] = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second))
/** Four digits; a remainder and 16 bits more fit an ordinary number. */
const DIVISOR = BASE ** 4
const LIMB = 65_536

/** @example base58(Buffer.from('hello')) // 'Cn8eVZg' */
export function base58(bytes: Uint8Array): string {
  let zeros = 0
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1
  const limbs = limbsOf(bytes)
  let text = ''
  for (let first = 0; first < limbs.length; ) {
    let rest = 0
    for (let at = first; at < limbs.length; at += 1) {
      const value = rest * LIMB + (limbs[at] ?? 0)
      const quotient = Math.floor(value / DIVISOR)
      limbs[at] = quotient
      rest = value - quotient * DIVISOR
    }
    text = (PAIRS[Math.floor(rest / PAIRS.length)] ?? '') + (PAIRS[rest % PAIRS.length] ?? '') + text
    while (first < limbs.length && limbs[first] === 0) first += 1
  }
  return '1'.repeat(zeros) + text.replace(/^1+/, '')
}

/** A number as 16 bits at a time, the highest first. */
function limbsOf(bytes: Uint8Array): Uint16Array {
  const limbs = new Uint16Array(Math.ceil(bytes.length / 2))
  const shift = bytes.length % 2
  for (let at = 0; at < bytes.length; at += 1) {
    const limb = (at + shift) >> 1
    limbs[limb] = ((limbs[limb] ?? 0) << 8) | (bytes[at] ?? 0)
  }
  return limbs
}

/** The bytes of a text in base58; undefined for a text that is not. */
export function base58Bytes(text: string): Buffer | undefined {
  let zeros = 0
  while (zeros < text.length && text[zeros] === '1') zeros += 1
  let number = 0n
  for (let at = zeros; at < text.length; at += DIGITS) {
    let value = 0
    const digits = text.slice(at, at + DIGITS)
    for (const digit of digits) {
      const digitValue = VALUES.get(digit)
      if (digitValue === undefined) return undefined
      value = value * BASE + digitValue
    }
    number = number * (digits.length === DIGITS ? CHUNK : BigInt(BASE ** digits.length)) + BigInt(value)
  }
  const hex = number === 0n ? '' : number.toString(16)
  return Buffer.concat([Buffer.alloc(zeros), Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')])
}
