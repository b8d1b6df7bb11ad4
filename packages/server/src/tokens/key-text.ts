import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { TokenAlg } from '@lade/core/wire'
import { z } from 'zod'
import { MINIMUM_KEY_BYTES, MINIMUM_RSA_BITS, parseKeyJson, privateKeyOf } from '../key-material/key-material.ts'
import { type PreviousKey, SigningKey } from './signing-key.ts'

const DAY_SECONDS = 86_400

const Base64url = z.string().refine((text) => Buffer.from(text, 'base64url').toString('base64url') === text)
/** The time of issue, in epoch seconds: how old a key is stands beside it and nowhere else. */
const IssuedAt = z.int().nonnegative()

/** RFC 7517 and RFC 7518, section 6.4. Members besides these are let be. */
const SecretSchema = z.object({ kty: z.literal('oct'), k: Base64url, iat: IssuedAt })

/** RFC 7518, section 6.3.2. */
const KeyPairSchema = z.object({
  kty: z.literal('RSA'),
  n: Base64url,
  e: Base64url,
  d: Base64url,
  p: Base64url,
  q: Base64url,
  dp: Base64url,
  dq: Base64url,
  qi: Base64url,
  iat: IssuedAt,
})

/**
 * The keys that were replaced and are accepted for a while, as members of the text of the key that replaced them, which other versions
 * let be.
 */
const PreviousSchema = z.object({
  previous: z.array(z.looseObject({ acceptedUntil: z.int().nonnegative() })).optional(),
})

/** The key to be replaced, and for how long it is still accepted. */
interface Overlap {
  /** The text of the key in force. */
  readonly text: string
  readonly days: number
}

/**
 * A new key as the text of its file: a JSON Web Key with its time of issue.
 *
 * @param overlap - the key before, which goes on for a while, with those that go on beside it. @default no other key is accepted
 */
export async function newKeyText(alg: TokenAlg, now: Date, overlap?: Overlap): Promise<string> {
  const members = alg === 'HS256' ? newSecret() : await newKeyPair()
  const iat = Math.floor(now.getTime() / 1000)
  const previous = overlap === undefined ? {} : { previous: previousOf(overlap, iat) }
  return `${JSON.stringify({ ...members, iat, ...previous })}\n`
}

/** The latest first. None goes on for longer than before. */
function previousOf({ text, days }: Overlap, nowSeconds: number): object[] {
  const { previous = [] } = PreviousSchema.parse(parseKeyJson(text))
  const last: object = { ...z.looseObject({}).parse(parseKeyJson(text)), previous: undefined }
  const going = previous.filter(({ acceptedUntil }) => acceptedUntil > nowSeconds)
  return [{ ...last, acceptedUntil: nowSeconds + days * DAY_SECONDS }, ...going]
}

/** The key that the text of a file holds, or the end of the sentence "this file …" about what is wrong with it. */
export async function parseKeyText(alg: TokenAlg, text: string): Promise<SigningKey | string> {
  const value = parseKeyJson(text)
  const key = await parseKey(alg, value)
  if (typeof key === 'string') return key
  const before = PreviousSchema.safeParse(value)
  if (!before.success) return 'has a "previous" that is not a list of JSON Web Keys with acceptedUntil.'
  const previous: PreviousKey[] = []
  for (const one of before.data.previous ?? []) {
    const parsed = await parseKey(alg, one)
    if (typeof parsed === 'string') return `has a previous key that ${parsed}`
    previous.push({ key: parsed, acceptedUntilSeconds: one.acceptedUntil })
  }
  return previous.length === 0 ? key : key.withPrevious(previous)
}

function parseKey(alg: TokenAlg, value: unknown): Promise<SigningKey | string> {
  return alg === 'HS256' ? parseSecret(value) : parseKeyPair(value)
}

function newSecret(): object {
  return { kty: 'oct', k: randomBytes(MINIMUM_KEY_BYTES).toString('base64url') }
}

async function newKeyPair(): Promise<object> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: MINIMUM_RSA_BITS })
  return privateKey.export({ format: 'jwk' })
}

async function parseSecret(value: unknown): Promise<SigningKey | string> {
  const parsed = SecretSchema.safeParse(value)
  if (!parsed.success) return 'does not hold a JSON Web Key with kty "oct", k and iat.'
  const bytes = Buffer.from(parsed.data.k, 'base64url')
  if (bytes.length < MINIMUM_KEY_BYTES) {
    return `holds a key of ${bytes.length} bytes; at least ${MINIMUM_KEY_BYTES} are needed.`
  }
  return SigningKey.fromBytes(bytes, parsed.data.iat)
}

async function parseKeyPair(value: unknown): Promise<SigningKey | string> {
  const parsed = KeyPairSchema.safeParse(value)
  const privateKey = parsed.success ? privateKeyOf({ key: parsed.data, format: 'jwk' }) : undefined
  if (!parsed.success || privateKey === undefined) {
    return 'does not hold a JSON Web Key with kty "RSA", the members of a private key, and iat.'
  }
  const bits = privateKey.asymmetricKeyDetails?.modulusLength ?? 0
  if (bits < MINIMUM_RSA_BITS) return `holds a key of ${bits} bits; at least ${MINIMUM_RSA_BITS} are needed.`
  return SigningKey.fromPrivateKey(privateKey, parsed.data.iat)
}
