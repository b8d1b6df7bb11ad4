import { prepareAdditionWrites } from './addition-writes.ts'
import { prepareAdminWrites } from './admin-writes.ts'
import { prepareAggregateWrites } from './aggregate-writes.ts'
import { prepareAuditLogWrites } from './audit-log-writes.ts'
import { prepareBlockedCallerWrites } from './blocked-caller-writes.ts'
import { prepareChainWrites } from './chain-writes.ts'
import { prepareClaimWrites } from './claim-writes.ts'
import { prepareCompositionWrites } from './composition-writes.ts'
import { prepareContentWrites } from './content-writes.ts'
import { prepareCopyWrites } from './copy-writes.ts'
import { prepareDealWrites } from './deal-writes.ts'
import { prepareDiscardWrites } from './discard-writes.ts'
import { prepareErasureWrites } from './erasure-writes.ts'
import { prepareEscrowWrites } from './escrow-writes.ts'
import { prepareFileChanges } from './file-changes.ts'
import { prepareFileRevival } from './file-revival.ts'
import { prepareFileWithdrawal } from './file-withdrawal.ts'
import { prepareFileWrites } from './file-writes.ts'
import { prepareInstallationWrites } from './installation-writes.ts'
import { prepareIntegrityWrites } from './integrity-writes.ts'
import { prepareInventoryWrites } from './inventory-writes.ts'
import { prepareLeaseWrites } from './lease-writes.ts'
import { prepareLimitWrites } from './limit-writes.ts'
import { prepareLoginCodeWrites } from './login-code-writes.ts'
import { prepareMemberWrites } from './member-writes.ts'
import { prepareNonceWrites } from './nonce-writes.ts'
import { prepareObjectRelease } from './object-release.ts'
import { prepareOfferWrites } from './offer-writes.ts'
import { prepareOldRecordWrites } from './old-record-writes.ts'
import { prepareOpenUploadWrites } from './open-upload-writes.ts'
import { prepareQuotaWrites } from './quota-writes.ts'
import { prepareSecretWrites } from './secret-writes.ts'
import { prepareSessionWrites } from './session-writes.ts'
import type { Sql, Steps } from './sql.ts'
import { prepareTakedownWrites } from './takedown-writes.ts'
import { prepareThinningWrites } from './thinning-writes.ts'
import { prepareTokenWrites } from './token-writes.ts'

/**
 * Every change that can be made to the records, by name. A write takes one value and answers one value, both plain data, so
 * that it can cross to another thread; its steps decide and change, inside one transaction of the engine that runs them.
 */
export function prepareWrites(db: Sql) {
  const admin = prepareAdminWrites(db)
  const audit = prepareAuditLogWrites(db)
  const discards = prepareDiscardWrites(db)
  const integrity = prepareIntegrityWrites(db)
  const contents = prepareContentWrites(db, integrity)
  const deals = prepareDealWrites(db)
  const quotas = prepareQuotaWrites(db, contents, discards, deals)
  const openUploads = prepareOpenUploadWrites(db, quotas)
  const release = prepareObjectRelease(db, contents, discards)
  const files = prepareFileWrites(db, release)
  const withdrawal = prepareFileWithdrawal(db)
  const changes = prepareFileChanges(db, withdrawal)
  const revival = prepareFileRevival(db)
  const compositions = prepareCompositionWrites(db, contents, release)
  const tokens = prepareTokenWrites(db, audit)
  const loginCodes = prepareLoginCodeWrites(db, audit)
  const sessions = prepareSessionWrites(db, audit)
  const members = prepareMemberWrites(db)
  const claims = prepareClaimWrites(db)
  const limits = prepareLimitWrites(db, audit)
  const nonces = prepareNonceWrites(db, audit)
  const chain = prepareChainWrites(db)
  const escrow = prepareEscrowWrites(db)
  const copies = prepareCopyWrites(db)
  const additions = prepareAdditionWrites(db, copies)
  const aggregates = prepareAggregateWrites(db, copies)
  const takedowns = prepareTakedownWrites(db, { files, withdrawal, aggregates, release, audit })
  const callers = prepareBlockedCallerWrites(db, { files, release, audit })
  const erasure = prepareErasureWrites(db, { files, release, tokens, audit, openUploads })
  const oldRecords = prepareOldRecordWrites(db)
  const thinning = prepareThinningWrites(db)
  const offers = prepareOfferWrites(db)
  const leases = prepareLeaseWrites(db)
  const inventory = prepareInventoryWrites(db, discards, audit)
  const secrets = prepareSecretWrites(db)
  const installation = prepareInstallationWrites(db)
  const registerInstance = db.prepare<[string, number]>('INSERT INTO instances (id, started_at) VALUES (?, ?)')
  const forgetInstance = db.prepare<[string]>('DELETE FROM instances WHERE id = ?')

  return {
    'quotas.reserve': quotas.reserve,
    'quotas.grow': quotas.grow,
    'quotas.claim': quotas.claim,
    'quotas.commit': quotas.commit,
    'quotas.commitAtOnce': quotas.commitAtOnce,
    'quotas.commitEach': quotas.commitEach,
    'quotas.commitTogether': quotas.commitTogether,
    'quotas.release': quotas.release,
    'quotas.extendLeases': quotas.extendLeases,
    'quotas.releaseExpired': quotas.releaseExpired,
    'openUploads.create': openUploads.create,
    'openUploads.take': openUploads.take,
    'openUploads.advance': openUploads.advance,
    'openUploads.giveBack': openUploads.giveBack,
    'openUploads.end': openUploads.end,
    'openUploads.expire': openUploads.expire,
    'files.change': changes.change,
    'files.remove': files.remove,
    'files.expire': files.expire,
    'files.postpone': files.postpone,
    'files.releaseEnded': release.releaseEnded,
    'files.revive': revival.revive,
    'blocks.sweep': contents.sweep,
    'compositions.commit': compositions.commit,
    'folders.setCounted': members.setCounted,
    'claims.take': claims.take,
    'tokens.signUp': tokens.signUp,
    'tokens.revoke': tokens.revoke,
    'tokens.revokeAny': tokens.revokeAny,
    'tokens.revokeUser': tokens.revokeUser,
    'tokens.record': tokens.record,
    'tokens.forget': tokens.forget,
    'tokens.touch': tokens.touch,
    'loginCodes.open': loginCodes.open,
    'loginCodes.withdraw': loginCodes.withdraw,
    'loginCodes.answer': loginCodes.answer,
    'loginCodes.answerByEmail': loginCodes.answerByEmail,
    'loginCodes.expire': loginCodes.expire,
    'sessions.open': sessions.open,
    'sessions.signOut': sessions.signOut,
    'sessions.end': sessions.end,
    'sessions.touch': sessions.touch,
    'sessions.expire': sessions.expire,
    'placements.enrol': deals.enrol,
    'placements.carChecked': deals.carChecked,
    'placements.addCar': deals.addCar,
    'placements.aggregate': aggregates.aggregate,
    'placements.dissolve': aggregates.dissolve,
    'placements.reconcile': copies.reconcile,
    'placements.markAllUnreconciled': copies.markAllUnreconciled,
    'placements.parked': copies.parked,
    'placements.parkAgain': copies.parkAgain,
    'placements.retryLater': copies.retryLater,
    'placements.fail': copies.fail,
    'placements.openAddition': additions.openAddition,
    'placements.additionSent': additions.additionSent,
    'placements.additionLater': additions.additionLater,
    'placements.additionConfirmed': additions.additionConfirmed,
    'placements.additionRejected': additions.additionRejected,
    'placements.removed': copies.removed,
    'placements.audited': copies.audited,
    'placements.moveOldAudits': copies.moveOldAudits,
    'placements.want': deals.want,
    'offers.open': offers.open,
    'offers.close': offers.close,
    'offers.expire': offers.expire,
    'leases.take': leases.take,
    'leases.giveBack': leases.giveBack,
    'secrets.offer': secrets.offer,
    'secrets.replace': secrets.replace,
    'installation.offer': installation.offer,
    'installation.pair': installation.pair,
    'installation.raise': installation.raise,
    'installation.replace': installation.replace,
    'inventory.planOrphan': inventory.planOrphan,
    'inventory.letOrphansBe': inventory.letOrphansBe,
    'inventory.keepAsOrphans': inventory.keepAsOrphans,
    'inventory.usePut': inventory.usePut,
    'inventory.forgetPuts': inventory.forgetPuts,
    'inventory.setMark': inventory.setMark,
    'integrity.setChunkDigests': integrity.setChunkDigests,
    'integrity.setDamaged': integrity.setDamaged,
    'integrity.clearDamaged': integrity.clearDamaged,
    'integrity.sealRows': integrity.sealRows,
    'chain.adopt': chain.adopt,
    'chain.queueDeals': chain.queueDeals,
    'chain.propose': chain.propose,
    'chain.record': chain.record,
    'chain.addAttempt': chain.addAttempt,
    'chain.mined': chain.mined,
    'chain.reorganised': chain.reorganised,
    'chain.final': chain.final,
    'chain.superseded': chain.superseded,
    'escrow.apply': escrow.apply,
    'escrow.checked': escrow.checked,
    'nonces.use': nonces.use,
    'nonces.issue': nonces.issue,
    'nonces.redeem': nonces.redeem,
    'nonces.expire': nonces.expire,
    'takedowns.block': takedowns.block,
    'takedowns.lift': takedowns.lift,
    'blockedCallers.block': callers.block,
    'blockedCallers.lift': callers.lift,
    'blockedCallers.removed': callers.removed,
    'blockedCallers.endFiles': callers.endFiles,
    *'instances.register'({ instanceId, now }: { instanceId: string; now: number }): Steps<void> {
      yield* registerInstance.run(instanceId, now)
    },
    *'instances.deregister'(request: { instanceId: string; now: number }): Steps<{ readonly reservations: number }> {
      const { instanceId, now } = request
      const reservations = yield* quotas.releaseAllOf(instanceId, now)
      yield* discards.abandonAllOf(instanceId)
      yield* forgetInstance.run(instanceId)
      return { reservations }
    },
    'admin.noteStored': admin.noteStored,
    'limits.set': limits.set,
    'erasure.signIns': erasure.signIns,
    'erasure.endFiles': erasure.endFiles,
    'erasure.endedFiles': erasure.endedFiles,
    'erasure.oldFiles': oldRecords.oldFiles,
    'erasure.thinEnded': thinning.thinEnded,
    'erasure.forgetObjects': thinning.forgetObjects,
    'erasure.oldAddresses': oldRecords.oldAddresses,
    'erasure.oldTokens': oldRecords.oldTokens,
    'audit.append': audit.append,
    'audit.keyInUse': audit.keyInUse,
    'discards.begin': discards.begin,
    'discards.finish': discards.finish,
  }
}

/** What steps answer in the end. */
export type StepsValue<Of> = Of extends Steps<infer Value> ? Value : never

export type Writes = ReturnType<typeof prepareWrites>
export type WriteName = keyof Writes
export type WriteInput<Name extends WriteName> = Parameters<Writes[Name]>[0]
export type WriteOutput<Name extends WriteName> = StepsValue<ReturnType<Writes[Name]>>
