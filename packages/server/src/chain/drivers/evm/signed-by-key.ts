import { hashMessage, isAddressEqual, recoverAddress } from 'viem'
import type { Address } from '../../chain.ts'

/** r, s and v. */
const SIGNATURE_BYTES = 65
/** The only values of v that `personal_sign` answers with. */
const RECOVERY_VALUES = [27, 28]
/** Half of the order of secp256k1: of the two s that verify, only the one up to here is taken (EIP-2). */
const MAX_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** A message with the account that is said to have signed it. */
export interface SignedMessage {
  readonly account: Address
  readonly message: Uint8Array
  readonly signature: Uint8Array
}

/**
 * True when the key of `account` signed `message` in the way of `personal_sign` (EIP-191). Asks nobody.
 *
 * A message has one valid signature for each nonce of the signer, in one spelling: 65 bytes, s in the lower half, v 27 or 28.
 */
export async function isSignedByKey({ account, message, signature }: SignedMessage): Promise<boolean> {
  if (signature.length !== SIGNATURE_BYTES || !RECOVERY_VALUES.includes(signature[64] ?? 0)) return false
  if (toBigInt(signature.subarray(32, 64)) > MAX_S) return false
  try {
    return isAddressEqual(await recoverAddress({ hash: hashMessage({ raw: message }), signature }), account)
  } catch {
    // No I/O happens here: what is thrown says that r or s is no number of the curve.
    return false
  }
}

function toBigInt(bytes: Uint8Array): bigint {
  return bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)
}
