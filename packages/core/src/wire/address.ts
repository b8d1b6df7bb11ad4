import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** An account of an EVM chain: `0x` and 40 hex digits. */
export type AccountAddress = `0x${string}`

const HEX_ADDRESS = /^0x[0-9a-fA-F]{40}$/
const ZERO = /^0x0{40}$/

/**
 * Writes an address in the mixed case of EIP-55, the one spelling that this API answers.
 *
 * The case of what is given is not looked at; {@link isChecksummedAddress} does.
 *
 * @throws {TypeError} for anything but `0x` and 40 hex digits.
 *
 * @example
 * checksumAddress('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266') // '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
 */
export function checksumAddress(address: string): AccountAddress {
  if (!HEX_ADDRESS.test(address)) throw new TypeError('not an address')
  const digits = address.slice(2).toLowerCase()
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)))
  const cased = [...digits].map((digit, place) =>
    Number.parseInt(hash[place] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${cased.join('')}`
}

/** True for an address in the mixed case of EIP-55, and for no other spelling of it. */
export function isChecksummedAddress(text: string): text is AccountAddress {
  return HEX_ADDRESS.test(text) && checksumAddress(text) === text
}

/** True for the address of nobody, whose key nobody has. */
export function isZeroAddress(address: string): boolean {
  return ZERO.test(address)
}
