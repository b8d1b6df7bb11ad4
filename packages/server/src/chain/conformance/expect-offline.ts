import { LadeError } from '@lade/core/errors'
import { expect } from 'vitest'

/** Expects an answer of `chain_offline`, and that it says when to ask again. */
export async function expectOffline(asked: Promise<unknown>): Promise<void> {
  const failure = await asked.catch((error: unknown) => error)
  expect(LadeError.has(failure, 'chain_offline') && failure.evidence).toEqual({ retryAfterSeconds: 5 })
}
