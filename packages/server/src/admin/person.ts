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
  if (principal.startsWith(WALLET)) {
    return { principal, sub: `eip155:${principal.slice(WALLET.length)}`, email: undefined }
  }
  if (!principal.startsWith(USER)) return { principal, sub: undefined, email: undefined }
  const sub = principal.slice(USER.length)
  if (caller.includes('@')) return { principal, sub, email: normalizeEmail(caller) }
  const known = (await tokens.list({ sub })).find(({ email }) => email !== '')
  return { principal, sub, email: known?.email }
}
