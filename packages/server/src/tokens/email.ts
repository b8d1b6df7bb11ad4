import { hash } from 'node:crypto'
import { LadeError } from '@lade/core/errors'

/** RFC 5321, section 4.5.3.1: 64 octets before the @; 254 in all, which is what fits a path of 256. */
const MAXIMUM_LOCAL_LENGTH = 64
const MAXIMUM_LENGTH = 254

/** RFC 5322, section 3.2.3: dot-atom, in lower case. */
const LOCAL_PART = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/

/** RFC 1123 labels, at least two, the last of which is not a number. */
const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?=[a-z0-9-]*[a-z])[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * The one spelling of an email address: trimmed and in lower case.
 *
 * Accepts ASCII addresses as people write them; no quoted local parts, no comments, no address literals. Plus tags and
 * dots are kept, since only the domain's owner knows whether they matter.
 *
 * @throws {LadeError} `invalid_email`.
 *
 * @example
 * normalizeEmail(' Ada@Example.org ') // 'ada@example.org'
 */
export function normalizeEmail(text: string): string {
  const trimmed = text.trim()
  // Before the change of case, which turns some other letters (the Kelvin sign) into ASCII.
  if (!/^[\x21-\x7e]*$/.test(trimmed)) throw invalid('The email address must be ASCII without spaces.')
  const email = trimmed.toLowerCase()
  const [local = '', domain = '', ...rest] = email.split('@')
  if (rest.length > 0 || local === '' || domain === '')
    throw invalid('The email address must have one @ between a name and a domain, such as ada@example.org.')
  if (email.length > MAXIMUM_LENGTH || local.length > MAXIMUM_LOCAL_LENGTH) {
    throw invalid(
      `The email address must have at most ${MAXIMUM_LOCAL_LENGTH} characters before the @ and ${MAXIMUM_LENGTH} in all.`,
    )
  }
  if (!LOCAL_PART.test(local))
    throw invalid(
      'The part of the email address before the @ has characters that are not accepted, or two dots in a row.',
    )
  if (!DOMAIN.test(domain))
    throw invalid('The part of the email address after the @ must be a domain such as example.org.')
  return email
}

/**
 * The user id of an address: the first 16 hex digits of the sha2-256 of its normal spelling.
 *
 * @throws {LadeError} `invalid_email`.
 *
 * @example
 * userIdOf('Test@Example.com') // '973dfe463ec85785'
 */
export function userIdOf(email: string): string {
  return hash('sha256', normalizeEmail(email), 'hex').slice(0, 16)
}

function invalid(reason: string): LadeError<'invalid_email'> {
  return new LadeError('invalid_email', { reason })
}
