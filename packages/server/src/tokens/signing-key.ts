import { createHmac, createSecretKey, hkdfSync, type KeyObject, webcrypto } from 'node:crypto'

/** RFC 7518, section 3.2: a key of the same size as the hash output or larger, which is 32 bytes for HS256. */
export const MINIMUM_KEY_BYTES = 32

/** The source document's rotation rule: a key is replaced every 90 days. */
export const ROTATION_DAYS = 90

const DAY_SECONDS = 86_400

/**
 * The server's HMAC key. Its bytes do not print, and leave only as keys derived for one purpose.
 *
 * @example
 * const key = await SigningKey.fromBytes(randomBytes(32), 1_700_000_000)
 * key.id.length // 16
 */
export class SigningKey {
  /** 16 hex digits that tell keys apart and say nothing about their bytes; safe in logs. */
  readonly id: string
  /** Epoch seconds. `undefined` for a key that came without a date, such as one from the environment. */
  readonly issuedAtSeconds: number | undefined
  /** Signs and verifies HS256; not extractable. */
  readonly hmacKey: webcrypto.CryptoKey
  readonly #secret: KeyObject

  private constructor(secret: KeyObject, hmacKey: webcrypto.CryptoKey, issuedAtSeconds: number | undefined) {
    this.#secret = secret
    this.hmacKey = hmacKey
    this.issuedAtSeconds = issuedAtSeconds
    this.id = createHmac('sha256', secret).update('lade key id').digest('hex').slice(0, 16)
  }

  /**
   * @param bytes - at least {@link MINIMUM_KEY_BYTES}; copied.
   * @throws {TypeError} for fewer.
   */
  static async fromBytes(bytes: Uint8Array, issuedAtSeconds?: number): Promise<SigningKey> {
    if (bytes.length < MINIMUM_KEY_BYTES) {
      throw new TypeError(`A signing key needs at least ${MINIMUM_KEY_BYTES} bytes; these are ${bytes.length}.`)
    }
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const hmacKey = await webcrypto.subtle.importKey('raw', new Uint8Array(bytes), algorithm, false, ['sign', 'verify'])
    return new SigningKey(createSecretKey(bytes), hmacKey, issuedAtSeconds)
  }

  /**
   * A key for one purpose alone, by HKDF-SHA-256 (RFC 5869): what one purpose signs, no other accepts.
   *
   * @param purpose - the label, such as `lade share link v1`.
   */
  derive(purpose: string): KeyObject {
    return createSecretKey(new Uint8Array(hkdfSync('sha256', this.#secret, new Uint8Array(), purpose, 32)))
  }

  /** Whole days since the key was issued; `undefined` when that is not known. */
  ageDays(now: Date): number | undefined {
    if (this.issuedAtSeconds === undefined) return undefined
    return Math.max(0, Math.floor((now.getTime() / 1000 - this.issuedAtSeconds) / DAY_SECONDS))
  }

  /** True when the key is more than {@link ROTATION_DAYS} days old; false when its age is not known. */
  isOverdue(now: Date): boolean {
    return (
      this.issuedAtSeconds !== undefined && now.getTime() / 1000 - this.issuedAtSeconds > ROTATION_DAYS * DAY_SECONDS
    )
  }
}
