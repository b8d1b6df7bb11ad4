import { LadeError } from '@lade/core/errors'
import type { SessionRequest } from '@lade/core/wire'

/** What somebody signs in with, one of four. */
export type SignIn =
  | { readonly via: 'token'; readonly token: string }
  | { readonly via: 'email'; readonly email: string }
  | { readonly via: 'code'; readonly challenge?: string; readonly email?: string; readonly code: string }
  | { readonly via: 'wallet'; readonly message: string; readonly signature: string }

/** @throws {LadeError} `bad_request` for fields that do not belong together. */
export function signInOf(request: SessionRequest): SignIn {
  const { token, email, challenge, code, message, signature } = request
  const given = Object.entries(request).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  const is = (...names: readonly string[]): boolean =>
    given.length === names.length && names.every((name) => given.includes(name))
  if (token !== undefined && is('token')) return { via: 'token', token }
  if (email !== undefined && is('email')) return { via: 'email', email }
  if (challenge !== undefined && code !== undefined && is('challenge', 'code')) return { via: 'code', challenge, code }
  if (email !== undefined && code !== undefined && is('email', 'code')) return { via: 'code', email, code }
  if (message !== undefined && signature !== undefined && is('message', 'signature')) {
    return { via: 'wallet', message, signature }
  }
  throw new LadeError('bad_request', {
    reason:
      'Send exactly one of these sets of fields: {token}, {email}, {challenge, code}, {email, code}, or {message, signature}.',
  })
}
