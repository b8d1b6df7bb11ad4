import type { RecordStore, SessionRecord, SessionUse } from '../records/record-store.ts'
import { RecentAnswers } from '../tokens/recent-answers.ts'
import type { SigningKeys } from '../tokens/signing-keys.ts'
import { SESSION_SECRET, sessionDigest } from './session-secret.ts'
import { expiryOf } from './session-times.ts'

/** Finds sessions by what their cookies say, and remembers when each was last used. */
export interface SessionKeeper {
  /**
   * The session of this secret, as it is with this use; undefined for one that has ended.
   *
   * @throws {LadeError} `auth_offline`, `storage_failed`.
   */
  use(secret: string): Promise<SessionRecord | undefined>
  /** Makes ends of sessions, and of tokens, by this process hold from the next request on. */
  forget(): void
  /** Writes the times of use that have not been written yet. */
  flushUses(): Promise<void>
}

/** As long as that a token is not revoked: another process's revocation holds after it. */
const BELIEVED_MS = 1000

/** A session is looked up at most once a second. Its last use is written by `flushUses`, and not at every request. */
export function createSessionKeeper(deps: {
  readonly records: Pick<RecordStore, 'sessions'>
  readonly keys: SigningKeys
  readonly now: () => number
}): SessionKeeper {
  const answers = new RecentAnswers<SessionRecord | undefined>(BELIEVED_MS)
  let uses = new Map<string, SessionUse>()

  return {
    async use(secret) {
      if (!SESSION_SECRET.test(secret)) return undefined
      const now = deps.now()
      const key = deps.keys.current()
      const digest = sessionDigest(secret)
      const found = await answers.get(digest, now, () => deps.records.sessions.find({ digest, now }))
      if (found === undefined || now >= found.endsAt || now >= key.acceptedUntilMs(found.keyId)) return undefined
      const use = { id: found.id, usedAt: now, expiresAt: expiryOf(found, now) }
      uses.set(found.id, use)
      return { ...found, lastUsedAt: now, expiresAt: use.expiresAt }
    },
    forget() {
      answers.clear()
    },
    async flushUses() {
      answers.clear()
      if (uses.size === 0) return
      const written = uses
      uses = new Map()
      await deps.records.sessions.touch([...written.values()])
    },
  }
}
