import { hostname } from 'node:os'
import type { LadeClient } from '@lade/client'
import type { Scope, SignupResult } from '@lade/core/wire'

export interface SignUpFlags {
  readonly email: string
  readonly label?: string
  readonly scopes?: readonly Scope[]
  readonly quotaMb?: number
  readonly days?: number
}

/** Asks the service for a token. Without a label it is called after this machine. */
export function signUp(client: LadeClient, flags: SignUpFlags, signal: AbortSignal): Promise<SignupResult> {
  const { email, label, scopes, quotaMb, days } = flags
  return client.signup(
    {
      email,
      label: label ?? `lade on ${hostname()}`.slice(0, 100),
      ...(scopes !== undefined && { scopes: [...scopes] }),
      ...(quotaMb !== undefined && { quotaMb }),
      ...(days !== undefined && { ttlDays: days }),
    },
    { signal },
  )
}
