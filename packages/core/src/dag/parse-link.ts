import { CID } from 'multiformats/cid'

/** Up to here the decoders of multiformats are fast enough. */
const SHORT_CHARACTERS = 64
/** The bases that are read here, by their multibase prefix; those of base32 take no more time than their length. */
const ALPHABETS: Readonly<Record<string, string>> = {
  z: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
  k: '0123456789abcdefghijklmnopqrstuvwxyz',
}
/** 58 to the power of this, times a limb, is below 2^53. */
const DIGITS_AT_ONCE = 5
const LIMB = 2 ** 23

/**
 * A CID from its text, as `CID.parse`, which for a long text takes twenty times as long.
 *
 * @throws {Error} for what is no CID.
 */
export function parseLink(text: string): CID {
  const alphabet = ALPHABETS[text.charAt(0)]
  const isSlow = alphabet !== undefined && text.length > SHORT_CHARACTERS && text[1] !== alphabet[0]
  if (!isSlow) return CID.parse(text)
  const cid = CID.decode(bytesOf(text.slice(1), alphabet))
  if (cid.version === 0) throw new TypeError('A CID of version 0 has no multibase prefix.')
  return cid
}

/** The bytes of a number in a base, which has no leading zeros: a few digits at a time, in limbs of 23 bits, the lowest first. */
function bytesOf(digits: string, alphabet: string): Uint8Array<ArrayBuffer> {
  const limbs: number[] = []
  for (let at = 0; at < digits.length; at += DIGITS_AT_ONCE) {
    const group = digits.slice(at, at + DIGITS_AT_ONCE)
    let carry = 0
    for (const digit of group) {
      const value = alphabet.indexOf(digit)
      if (value < 0) throw new TypeError('A character is not of the base.')
      carry = carry * alphabet.length + value
    }
    const factor = alphabet.length ** group.length
    for (let place = 0; place < limbs.length; place += 1) {
      const sum = (limbs[place] ?? 0) * factor + carry
      carry = Math.floor(sum / LIMB)
      limbs[place] = sum - carry * LIMB
    }
    for (; carry > 0; carry = Math.floor(carry / LIMB)) limbs.push(carry % LIMB)
  }
  return bigEndian(limbs)
}

function bigEndian(limbs: readonly number[]): Uint8Array<ArrayBuffer> {
  const bytes: number[] = []
  let bits = 0
  let value = 0
  for (const limb of limbs) {
    value += limb * 2 ** bits
    for (bits += 23; bits >= 8; bits -= 8) {
      bytes.push(value % 256)
      value = Math.floor(value / 256)
    }
  }
  bytes.push(value)
  while (bytes.at(-1) === 0) bytes.pop()
  return Uint8Array.from(bytes.reverse())
}
