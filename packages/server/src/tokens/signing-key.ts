import { createHmac, createPublicKey, createSecretKey, hkdfSync, type KeyObject, webcrypto } from 'node:crypto'
import type { TokenAlg } from '@lade/core/wire'
import { calculateJwkThumbprint } from 'jose'
import { MINIMUM_KEY_BYTES, MINIMUM_RSA_BITS } from '../key-material/key-material.ts'

/** The source document's rotation rule: a key is replaced every 90 days. */
export const ROTATION_DAYS = 90

const DAY_SECONDS = 86_400

/** The public half of an RS256 key as RFC 7517 publishes it. */
export interface PublicJwk {
  readonly kty: 'RSA'
  readonly use: 'sig'
  readonly alg: 'RS256'
  readonly kid: string
  readonly n: string
  readonly e: string
}

/** A replaced key. Its tokens and share links are accepted for a while; it signs no new ones. */
export interface PreviousKey {
  readonly key: SigningKey
  readonly acceptedUntilSeconds: number
}

/** The members of a key besides its secret. */
interface Facts {
  readonly alg: TokenAlg
  readonly id: string
  readonly signer: webcrypto.CryptoKey
  readonly verifier: webcrypto.CryptoKey
  readonly issuedAtSeconds: number | undefined
  readonly publicJwk: PublicJwk | undefined
}

/**
 * The server's signing key: an HMAC secret (HS256) or an RSA key pair (RS256). What is secret of it does not print, and
 * leaves only as keys derived for one purpose.
 *
 * @example
 * const key = await SigningKey.fromBytes(randomBytes(32), 1_700_000_000)
 * key.id.length // 16
 */
export class SigningKey {
  /** The one algorithm that it signs with, and that a token of it may name. */
  readonly alg: TokenAlg
  /**
   * Tells keys apart and says nothing about what is secret of them; safe in logs. 16 hex digits for HS256; for RS256 the
   * JWK thumbprint (RFC 7638), which is the `kid` of its tokens.
   */
  readonly id: string
  /** Epoch seconds. `undefined` for a key that came without a date, such as one from the environment. */
  readonly issuedAtSeconds: number | undefined
  /** Not extractable. With HS256 it is the `verifier` too. */
  readonly signer: webcrypto.CryptoKey
  readonly verifier: webcrypto.CryptoKey
  /** Absent for HS256, which has nothing to publish. */
  readonly publicJwk: PublicJwk | undefined
  /** The keys before this one that are accepted for a while, the latest first. */
  readonly previous: readonly PreviousKey[]
  readonly #secret: KeyObject
  readonly #facts: Facts

  private constructor(secret: KeyObject, facts: Facts, previous: readonly PreviousKey[] = []) {
    this.#secret = secret
    this.#facts = facts
    this.previous = previous
    this.alg = facts.alg
    this.id = facts.id
    this.signer = facts.signer
    this.verifier = facts.verifier
    this.issuedAtSeconds = facts.issuedAtSeconds
    this.publicJwk = facts.publicJwk
  }

  /** The key that a configuration brings, without a date: see `tokenKeyMaterial` in `@lade/server/config`. */
  static fromMaterial(
    material:
      | { readonly alg: 'HS256'; readonly bytes: Uint8Array }
      | { readonly alg: 'RS256'; readonly privateKey: KeyObject },
  ): Promise<SigningKey> {
    return material.alg === 'HS256'
      ? SigningKey.fromBytes(material.bytes)
      : SigningKey.fromPrivateKey(material.privateKey)
  }

  /**
   * A key for HS256.
   *
   * @param bytes - at least {@link MINIMUM_KEY_BYTES}; copied.
   * @throws {TypeError} for fewer.
   */
  static async fromBytes(bytes: Uint8Array, issuedAtSeconds?: number): Promise<SigningKey> {
    if (bytes.length < MINIMUM_KEY_BYTES) {
      throw new TypeError(`A signing key needs at least ${MINIMUM_KEY_BYTES} bytes; these are ${bytes.length}.`)
    }
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const hmacKey = await webcrypto.subtle.importKey('raw', new Uint8Array(bytes), algorithm, false, ['sign', 'verify'])
    const secret = createSecretKey(bytes)
    return new SigningKey(secret, {
      alg: 'HS256',
      id: createHmac('sha256', secret).update('lade key id').digest('hex').slice(0, 16),
      signer: hmacKey,
      verifier: hmacKey,
      issuedAtSeconds,
      publicJwk: undefined,
    })
  }

  /**
   * A key for RS256.
   *
   * @param privateKey - RSA, of at least {@link MINIMUM_RSA_BITS}.
   * @throws {TypeError} for any other key.
   */
  static async fromPrivateKey(privateKey: KeyObject, issuedAtSeconds?: number): Promise<SigningKey> {
    const bits = privateKey.asymmetricKeyDetails?.modulusLength ?? 0
    if (privateKey.type !== 'private' || privateKey.asymmetricKeyType !== 'rsa' || bits < MINIMUM_RSA_BITS) {
      throw new TypeError(`A key for RS256 is an RSA private key of at least ${MINIMUM_RSA_BITS} bits.`)
    }
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    const publicKey = createPublicKey(privateKey)
    const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
    const id = await calculateJwkThumbprint({ kty: 'RSA', n, e })
    return new SigningKey(createSecretKey(privateKey.export({ format: 'der', type: 'pkcs8' })), {
      alg: 'RS256',
      id,
      signer: privateKey.toCryptoKey(algorithm, false, ['sign']),
      verifier: publicKey.toCryptoKey(algorithm, true, ['verify']),
      issuedAtSeconds,
      publicJwk: { kty: 'RSA', use: 'sig', alg: 'RS256', kid: id, n, e },
    })
  }

  /**
   * A key for one purpose alone, by HKDF-SHA-256 (RFC 5869): what one purpose signs, no other accepts.
   *
   * @param purpose - the label, such as `lade share link v1`.
   */
  derive(purpose: string): KeyObject {
    return createSecretKey(new Uint8Array(hkdfSync('sha256', this.#secret, new Uint8Array(), purpose, 32)))
  }

  /** The same key, after which these are accepted for a while. */
  withPrevious(previous: readonly PreviousKey[]): SigningKey {
    return new SigningKey(this.#secret, this.#facts, previous)
  }

  /** This key, and the previous ones that are accepted at this time. */
  accepted(now: Date): readonly SigningKey[] {
    if (this.previous.length === 0) return [this]
    return [this, ...this.previous.filter((one) => isAccepted(one, now)).map(({ key }) => key)]
  }

  /** Until when tokens of the key with this id are accepted, in epoch milliseconds; infinity for this key. */
  acceptedUntilMs(id: string): number {
    if (id === this.id) return Number.POSITIVE_INFINITY
    const previous = this.previous.find(({ key }) => key.id === id)
    return previous === undefined ? 0 : previous.acceptedUntilSeconds * 1000
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

function isAccepted({ acceptedUntilSeconds }: PreviousKey, now: Date): boolean {
  return now.getTime() < acceptedUntilSeconds * 1000
}
