import { randomBytes } from 'node:crypto'
import { countText, LadeError, waitText } from '@lade/core/errors'
import type { WalletNonceResult } from '@lade/core/wire'
import type { NonceRecords } from '../records/record-store.ts'
import type { NonceLimit } from './nonce-limit.ts'

/** How long a nonce waits for its message. */
export const SIGN_IN_SECONDS = 10 * 60

export interface IssueNonceDeps {
  readonly nonces: NonceRecords
  readonly limit: NonceLimit
  readonly now: () => number
}

/**
 * Hands out a nonce for a sign-in: 128 random bits in hex, good once and for ten minutes, at whichever process.
 *
 * @param address - whom it counts against, such as `ip:192.0.2.7`.
 * @throws {LadeError} `rate_limited`, `storage_failed`.
 */
export async function issueNonce(
  { nonces, limit, now }: IssueNonceDeps,
  { address }: { readonly address: string },
): Promise<WalletNonceResult> {
  const at = now()
  const refusal = limit.count(address, at)
  if (refusal !== undefined) {
    const { used, retryAfterSeconds } = refusal
    const reason = `This IP address has requested ${countText(used, 'nonce')} this minute, the maximum. Try again in ${waitText(retryAfterSeconds)}.`
    throw new LadeError('rate_limited', { ...refusal, reason })
  }
  const nonce = randomBytes(16).toString('hex')
  await nonces.issue({ nonce, until: at + SIGN_IN_SECONDS * 1000 })
  return { nonce, expiresIn: SIGN_IN_SECONDS }
}
