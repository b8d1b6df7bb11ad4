import type { Session, SessionRequest, SessionResult, SessionState, SessionWay } from '@lade/core/wire'
import { computed, signal } from '@preact/signals'
import { api, codeOf } from './api.ts'

/** Null for nobody; undefined until the service has said it. */
export const session = signal<Session | null | undefined>(undefined)
/** The ways to sign in that this service has. */
export const signInWays = signal<readonly SessionWay[]>([])

/** True where somebody has signed in who may see and use what is their own; a token of an operator may have nothing but `admin`. */
export const isUser = computed(() => session.value?.scopes.includes('list') === true)
/** True where an operator has signed in. */
export const isOperator = computed(() => session.value?.scopes.includes('admin') === true)

export async function loadSession(): Promise<void> {
  try {
    const answer = await api<SessionState>('/api/session')
    session.value = answer.session
    signInWays.value = answer.signIn
  } catch {
    // Uploads without an account go on; whatever needs one says so itself.
    session.value = null
  }
}

/** @throws {ApiError} what the service refuses. */
export async function signIn(proof: SessionRequest): Promise<void> {
  const answer = await api<SessionResult>('/api/session', { method: 'POST', json: proof })
  session.value = answer.session
}

export async function signOut(): Promise<void> {
  await api('/api/session', { method: 'DELETE' })
  session.value = null
}

/** Takes note of a session that has ended meanwhile. @returns true for an error that says so. */
export function noteEnded(error: unknown): boolean {
  if (!['no_token', 'invalid_token', 'revoked_token', 'invalid_session'].includes(codeOf(error) ?? '')) return false
  session.value = null
  return true
}
