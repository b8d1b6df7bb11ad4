import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto'
import type { SigningKey } from './signing-key.ts'

const CHALLENGE_BYTES = 32
const CODE_DIGITS = 6

/** What the caller is told, what the address is told, and what is kept of both. */
export interface LoginCode {
  /** For the caller alone: without it the code is of no use, and with what is kept alone neither can be found. */
  readonly challenge: string
  /** For the address alone: six digits. */
  readonly code: string
}

/**
 * A challenge of 256 random bits, and a code of which each of the million is as likely as the others. No challenge begins with a hyphen:
 * it is typed as `--challenge CHALLENGE`, and `-V…` would ask for the version.
 */
export function newLoginCode(): LoginCode {
  return {
    challenge: newChallenge(),
    code: String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0'),
  }
}

function newChallenge(): string {
  for (;;) {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url')
    if (!challenge.startsWith('-')) return challenge
  }
}

/** The name under which a challenge is kept. */
export function loginCodeId(challenge: string): string {
  return createHash('sha256').update(challenge).digest('hex')
}

/**
 * What is kept of a code: HMAC-SHA-256 under the challenge, which is kept nowhere. A hash of the code alone would be undone
 * by hashing the million.
 *
 * @param code - as it was typed; white space and hyphens in it are let be.
 */
export function codeDigest({ challenge, code }: LoginCode): string {
  return createHmac('sha256', challenge)
    .update(`lade email code v1:${typed(code)}`)
    .digest('hex')
}

/**
 * What is kept of a code for callers that send the email address and no challenge: HMAC-SHA-256 under a key derived from the signing key,
 * so that the records alone do not tell the code.
 */
export function emailCodeDigest(key: SigningKey, { email, code }: { email: string; code: string }): string {
  return createHmac('sha256', key.derive('lade login code v1'))
    .update(`${email}\n${typed(code)}`)
    .digest('hex')
}

function typed(code: string): string {
  return code.replace(/[\s-]/g, '')
}
