import { prepareChallengeWrites } from './challenge-writes.ts'
import { prepareCompositionWrites } from './composition-writes.ts'
import type { Connection } from './connection.ts'
import { prepareContentWrites } from './content-writes.ts'
import { prepareDiscardWrites } from './discard-writes.ts'
import { prepareFileWrites } from './file-writes.ts'
import { prepareObjectRelease } from './object-release.ts'
import { prepareQuotaWrites } from './quota-writes.ts'
import { prepareTokenWrites } from './token-writes.ts'

/**
 * Every change that can be made to the records, by name. A write takes one value and answers one value, both plain
 * data, so that it can cross to the writer thread; it decides and changes, and never waits.
 */
export function prepareWrites(db: Connection) {
  const discards = prepareDiscardWrites(db)
  const contents = prepareContentWrites(db)
  const quotas = prepareQuotaWrites(db, contents, discards)
  const release = prepareObjectRelease(db, contents, discards)
  const files = prepareFileWrites(db, release)
  const compositions = prepareCompositionWrites(db, contents, release)
  const tokens = prepareTokenWrites(db)
  const challenges = prepareChallengeWrites(db)
  const registerInstance = db.prepare<[string, number]>('INSERT INTO instances (id, started_at) VALUES (?, ?)')
  const forgetInstance = db.prepare<[string]>('DELETE FROM instances WHERE id = ?')

  return {
    reserve: quotas.reserve,
    claim: quotas.claim,
    commit: quotas.commit,
    commitAtOnce: quotas.commitAtOnce,
    release: quotas.release,
    extendLeases: quotas.extendLeases,
    releaseExpired: quotas.releaseExpired,
    removeFile: files.remove,
    expireFiles: files.expire,
    compose: compositions.commit,
    sweepBlocks: contents.sweepBlocks,
    signUp: tokens.signUp,
    revokeToken: tokens.revoke,
    touchTokens: tokens.touch,
    openChallenge: challenges.open,
    withdrawChallenge: challenges.withdraw,
    answerChallenge: challenges.answer,
    expireChallenges: challenges.expire,
    beginDiscard: discards.begin,
    finishDiscard: discards.finish,
    registerInstance({ instanceId, now }: { instanceId: string; now: number }): void {
      registerInstance.run(instanceId, now)
    },
    buryInstance({ instanceId, now }: { instanceId: string; now: number }): { readonly reservations: number } {
      const reservations = quotas.releaseAllOf(instanceId, now)
      discards.abandonAllOf(instanceId)
      forgetInstance.run(instanceId)
      return { reservations }
    },
  }
}

export type Writes = ReturnType<typeof prepareWrites>
export type WriteName = keyof Writes
export type WriteInput<Name extends WriteName> = Parameters<Writes[Name]>[0]
export type WriteOutput<Name extends WriteName> = ReturnType<Writes[Name]>
