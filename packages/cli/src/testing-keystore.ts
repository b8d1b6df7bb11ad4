import { createCipheriv, scryptSync } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'

const SALT = Buffer.alloc(32, 1)
const IV = Buffer.alloc(16, 2)

/** A keystore as `cast wallet` and geth write them, with less work than theirs to open. @param key - 64 hex digits. */
export function keystoreOf(key: string, password: string, address: string): string {
  const derived = scryptSync(password, SALT, 32, { N: 1024, r: 8, p: 1 })
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), IV)
  const ciphertext = Buffer.concat([cipher.update(Buffer.from(key, 'hex')), cipher.final()])
  const mac = Buffer.from(keccak_256(Buffer.concat([derived.subarray(16), ciphertext])))
  return JSON.stringify({
    version: 3,
    id: '3198bc9c-6672-4ab3-9995-4942343ae5b6',
    address: address.slice(2).toLowerCase(),
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: IV.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'scrypt',
      kdfparams: { n: 1024, r: 8, p: 1, dklen: 32, salt: SALT.toString('hex') },
      mac: mac.toString('hex'),
    },
  })
}
