import { LadeError } from '@lade/core/errors'

/**
 * The refusal of a token that was signed here and whose time is over.
 *
 * @param exp - in epoch seconds.
 *
 * @example
 * expiredToken(1_790_000_000).message // 'The token expired on 2026-09-21 at 14:13 UTC. Get a new one with `lade login` or POST /api/auth/signup.'
 */
export function expiredToken(exp: number): LadeError<'invalid_token'> {
  const [day, time = ''] = new Date(exp * 1000).toISOString().split('T')
  const reason = `The token expired on ${day} at ${time.slice(0, 5)} UTC. Get a new one with \`lade login\` or POST /api/auth/signup.`
  return new LadeError('invalid_token', { reason })
}
