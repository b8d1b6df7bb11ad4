import { createHash, randomBytes } from 'node:crypto'

const SECRET_BYTES = 32

/** What a cookie says: 256 random bits, as base64url. */
export const SESSION_SECRET = /^[A-Za-z0-9_-]{43}$/

export function newSessionSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** What is kept of a secret. Nobody guesses 256 bits, so a plain hash keeps it. */
export function sessionDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
