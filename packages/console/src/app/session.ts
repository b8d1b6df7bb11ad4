import { signal } from '@preact/signals'
import { api, codeOf } from './api.ts'

/** Who has signed in, as `GET /api/session` says it. */
export interface Session {
  readonly id: string
  readonly via: 'email' | 'code' | 'wallet' | 'token'
  readonly userId: string
  readonly email: string | null
  readonly owner: string
  readonly scopes: readonly string[]
  readonly quotaMb: number | null
  readonly createdAt: string
  readonly lastUsedAt: string
  readonly expiresAt: string
  readonly current: boolean
}

export type SignInWay = 'email' | 'code' | 'wallet' | 'token'

/** What a sign-in sends: exactly one of these. */
export type SignInProof =
  | { readonly token: string }
  | { readonly email: string }
  | { readonly challenge: string; readonly code: string }
  | { readonly message: string; readonly signature: string }

interface SessionAnswer {
  readonly session: Session | null
  readonly signIn?: readonly SignInWay[]
}

/** Null for nobody; undefined until the service has said it. */
export const session = signal<Session | null | undefined>(undefined)
/** The ways to sign in that this service has. */
export const signInWays = signal<readonly SignInWay[]>([])

export async function loadSession(): Promise<void> {
  try {
    const answer = await api<SessionAnswer>('/api/session')
    session.value = answer.session
    signInWays.value = answer.signIn ?? []
  } catch {
    // Uploads without an account go on; whatever needs one says so itself.
    session.value = null
  }
}

/** @throws {ApiError} what the service refuses. */
export async function signIn(proof: SignInProof): Promise<void> {
  const answer = await api<SessionAnswer>('/api/session', { method: 'POST', json: proof })
  session.value = answer.session
}

export async function signOut(): Promise<void> {
  await api('/api/session', { method: 'DELETE' })
  session.value = null
}

/** Takes note of a session that has ended meanwhile. @returns true for an error that says so. */
export function noteEnded(error: unknown): boolean {
  if (!['no_token', 'invalid_token', 'revoked_token'].includes(codeOf(error) ?? '')) return false
  session.value = null
  return true
}
