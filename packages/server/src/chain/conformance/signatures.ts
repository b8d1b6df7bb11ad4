import { hexToBytes, toBytes } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** An account with a key, on no chain. */
export const signer = privateKeyToAccount(`0x${'5a'.repeat(32)}`)

export function messageOf(text: string): Uint8Array {
  return toBytes(text)
}

export async function signFor(message: Uint8Array): Promise<Uint8Array> {
  return hexToBytes(await signer.signMessage({ message: { raw: message } }))
}

/** The other signature that verifies: s on the other side of the curve's order, v turned round. */
export function otherHalf(signature: Uint8Array): Uint8Array {
  const s = signature.subarray(32, 64).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
  const mirrored = hexToBytes(`0x${(CURVE_ORDER - s).toString(16).padStart(64, '0')}`)
  const v = signature[64] === 27 ? 28 : 27
  return Uint8Array.from([...signature.subarray(0, 32), ...mirrored, v])
}

export function withRecoveryValue(signature: Uint8Array, change: (v: number) => number): Uint8Array {
  return signature.map((byte, index) => (index === 64 ? change(byte) : byte))
}
