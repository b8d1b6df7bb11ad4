import { createHmac } from 'node:crypto'
import type { TokenPayload } from './shapes.ts'

const PREFIX = 'pk_live_'

/** The decoded parts of a token, read without checking it. */
export function readToken(token: string): { header: Record<string, unknown>; payload: TokenPayload; parts: string[] } {
  const parts = token.slice(PREFIX.length).split('.')
  const read = (index: number) => JSON.parse(Buffer.from(parts[index] ?? '', 'base64url').toString('utf8')) as unknown
  return { header: read(0) as Record<string, unknown>, payload: read(1) as TokenPayload, parts }
}

/** `pk_live_` and a JWT of these parts, signed with HMAC under `key`. */
export function forgeToken(header: unknown, payload: unknown, key: Uint8Array, hash = 'sha256'): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encode(header)}.${encode(payload)}`
  return `${PREFIX}${signed}.${createHmac(hash, key).update(signed).digest('base64url')}`
}

/**
 * The bytes that a server makes of a configured key text, found by checking which reading of it signs `token`.
 *
 * @throws Error when no reading does.
 */
export function keyThatSigned(token: string, keyText: string): Buffer {
  const [header, payload, signature] = readToken(token).parts
  const readings = (['utf8', 'hex', 'base64', 'base64url'] as const).map((encoding) => Buffer.from(keyText, encoding))
  const key = readings.find(
    (bytes) => createHmac('sha256', bytes).update(`${header}.${payload}`).digest('base64url') === signature,
  )
  if (key === undefined) throw new Error('no reading of the configured key signs this token')
  return key
}
