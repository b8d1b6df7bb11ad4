import { hexToBytes } from '@noble/hashes/utils.js'

const HEX = /^(?:0x)?((?:[0-9a-fA-F]{2})+)$/

/** The bytes that hex digits stand for, with or without `0x`. @throws {TypeError} for anything else. */
export function bytesOfHex(text: string): Uint8Array<ArrayBuffer> {
  const digits = typeof text === 'string' ? HEX.exec(text)?.[1] : undefined
  if (digits === undefined) throw new TypeError('signMessage() must return the signature as hex')
  return hexToBytes(digits)
}
