import { DAY_MS } from '@lade/core/time'
import type { Logger } from 'pino'
import type { SigningKeys } from './signing-keys.ts'

/**
 * A function that says, when it is called, that the key in force is overdue: the first time, and once a day then. A key that
 * took its place is looked at anew. Says nothing of a key whose age is not known.
 */
export function keyAgeReminder(deps: {
  readonly keys: SigningKeys
  readonly log: Logger
  readonly now: () => number
}): () => void {
  let said: { readonly keyId: string; readonly at: number } | undefined
  return () => {
    const now = deps.now()
    const key = deps.keys.find()
    if (key === undefined || !key.isOverdue(new Date(now))) return
    if (said?.keyId === key.id && now - said.at < DAY_MS) return
    said = { keyId: key.id, at: now }
    deps.log.warn(
      { ageDays: key.ageDays(new Date(now)) },
      'the signing key is overdue for rotation: run lade keys rotate',
    )
  }
}
