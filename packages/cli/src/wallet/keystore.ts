import { createDecipheriv, pbkdf2, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { UsageError } from '../usage-error.ts'

/** More memory, in bytes, or more rounds than this takes no keystore that anybody makes. */
const MAXIMUM_SCRYPT_BYTES = 2 ** 31
const MAXIMUM_PBKDF2_ROUNDS = 50_000_000

const deriveByScrypt = promisify<Buffer, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
)
const deriveByPbkdf2 = promisify(pbkdf2)

/** A private key that is locked by a password: Web3 Secret Storage, version 3. */
export interface Keystore {
  readonly ciphertext: Buffer
  readonly iv: Buffer
  readonly mac: Buffer
  readonly salt: Buffer
  readonly keyBytes: number
  /** The account that it says it is of: 40 hex digits in lower case. */
  readonly address: string | undefined
  readonly kdf:
    | { readonly name: 'scrypt'; readonly n: number; readonly r: number; readonly p: number }
    | { readonly name: 'pbkdf2'; readonly rounds: number }
}

/**
 * Reads a keystore as geth, Foundry and other wallets write it.
 *
 * @param name - of the file, for the refusal.
 * @throws {UsageError} for anything else, and for one that would take unreasonably long to open.
 * @see https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/
 */
export function readKeystore(text: string, name: string): Keystore {
  const refusal = (why: string) => new UsageError(`${name} is not a supported keystore: ${why}.`)
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw refusal('it is not JSON')
    throw error
  }
  const store = fieldsOf(found)
  if (store.version !== 3) throw refusal('it is not Web3 Secret Storage version 3')
  // Old ones write it with a capital.
  const sealed = fieldsOf(store.crypto ?? store.Crypto)
  if (sealed.cipher !== 'aes-128-ctr') throw refusal('its cipher is not aes-128-ctr')
  const params = fieldsOf(sealed.kdfparams)
  const ciphertext = hexIn(sealed.ciphertext)
  const iv = hexIn(fieldsOf(sealed.cipherparams).iv)
  const mac = hexIn(sealed.mac)
  const salt = hexIn(params.salt)
  const keyBytes = params.dklen
  const isWhole = ciphertext?.length === 32 && iv?.length === 16 && mac?.length === 32 && salt !== undefined
  if (!isWhole || !isCount(keyBytes) || keyBytes < 32 || keyBytes > 1024) {
    throw refusal('a part of it is missing or malformed')
  }
  const kdf = kdfOf(sealed.kdf, params)
  if (kdf === undefined) throw refusal('its key derivation is unknown or too expensive')
  return { ciphertext, iv, mac, salt, keyBytes, address: addressIn(store.address), kdf }
}

/**
 * Opens a keystore.
 *
 * @returns the private key, 32 bytes; undefined when the password is not the one.
 */
export async function openKeystore(store: Keystore, password: string): Promise<Buffer | undefined> {
  const { ciphertext, iv, mac, salt, keyBytes, kdf } = store
  const secret = Buffer.from(password, 'utf8')
  const derived =
    kdf.name === 'scrypt'
      ? await runScrypt(secret, salt, keyBytes, kdf)
      : await deriveByPbkdf2(secret, salt, kdf.rounds, keyBytes, 'sha256')
  const found = keccak_256(Buffer.concat([derived.subarray(16, 32), ciphertext]))
  if (!timingSafeEqual(found, mac)) return undefined
  const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  return Buffer.concat([decipher.update(ciphertext), decipher.final()])
}

async function runScrypt(
  secret: Buffer,
  salt: Buffer,
  keyBytes: number,
  { n, r, p }: Extract<Keystore['kdf'], { readonly name: 'scrypt' }>,
): Promise<Uint8Array> {
  const maxmem = 2 * MAXIMUM_SCRYPT_BYTES
  if (n < 2 ** (16 * r)) return deriveByScrypt(secret, salt, keyBytes, { N: n, r, p, maxmem })
  // Python's keystores have so many rounds for their block size that RFC 7914 excludes them, and OpenSSL with it.
  const { scryptAsync } = await import('@noble/hashes/scrypt.js')
  return scryptAsync(secret, salt, { N: n, r, p, dkLen: keyBytes, maxmem })
}

function kdfOf(name: unknown, { n, r, p, c, prf }: Record<string, unknown>): Keystore['kdf'] | undefined {
  if (name === 'scrypt' && isCount(n) && isCount(r) && isCount(p)) {
    const isPower = Number.isInteger(Math.log2(n)) && n > 1
    return isPower && 128 * n * r * p <= MAXIMUM_SCRYPT_BYTES ? { name, n, r, p } : undefined
  }
  if (name === 'pbkdf2' && prf === 'hmac-sha256' && isCount(c)) {
    return c <= MAXIMUM_PBKDF2_ROUNDS ? { name, rounds: c } : undefined
  }
  return undefined
}

function addressIn(value: unknown): string | undefined {
  return typeof value === 'string' ? /^(?:0x)?([0-9a-f]{40})$/.exec(value.toLowerCase())?.[1] : undefined
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function hexIn(value: unknown): Buffer | undefined {
  const isHex = typeof value === 'string' && /^(?:[0-9a-f]{2})+$/i.test(value)
  return isHex ? Buffer.from(value, 'hex') : undefined
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}
