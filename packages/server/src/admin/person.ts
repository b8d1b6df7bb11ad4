import type { RecordStore } from '../records/record-store.ts'
import { normalizeEmail } from '../tokens/email.ts'
import { readPrincipal } from './read-principal.ts'

/** A caller whose data is asked for. */
export interface Person {
  readonly principal: string
  /** Of its tokens and sessions; undefined for an IP address. */
  readonly sub: string | undefined
  /** As it was asked for, or as its tokens have it. */
  readonly email: string | undefined
}

const USER = 'user:'
const WALLET = 'wallet:'

/**
 * The caller that an operator means.
 *
 * @param caller - as `readPrincipal` takes it.
 * @throws {LadeError} `bad_request`, `invalid_email`, `storage_failed`.
 */
export async function findPerson({ tokens }: Pick<RecordStore, 'tokens'>, caller: string): Promise<Person> {
  const principal = readPrincipal(caller)
  const sub = subOf(principal)
  if (sub === undefined || !principal.startsWith(USER)) return { principal, sub, email: undefined }
  if (caller.includes('@')) return { principal, sub, email: normalizeEmail(caller) }
  const known = (await tokens.list({ sub })).find(({ email }) => email !== '')
  return { principal, sub, email: known?.email }
}

/** What the tokens and sessions of a principal name it; undefined for an IP address, which has none. */
export function subOf(principal: string): string | undefined {
  if (principal.startsWith(WALLET)) return `eip155:${principal.slice(WALLET.length)}`
  return principal.startsWith(USER) ? principal.slice(USER.length) : undefined
}
