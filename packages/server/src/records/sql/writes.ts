import { prepareAdditionWrites } from './addition-writes.ts'
import { prepareAggregateWrites } from './aggregate-writes.ts'
import { prepareChainWrites } from './chain-writes.ts'
import { prepareLoginCodeWrites } from './login-code-writes.ts'
import { prepareCompositionWrites } from './composition-writes.ts'
import { prepareContentWrites } from './content-writes.ts'
import { prepareCopyWrites } from './copy-writes.ts'
import { prepareDealWrites } from './deal-writes.ts'
import { prepareDiscardWrites } from './discard-writes.ts'
import { prepareFileRevival } from './file-revival.ts'
import { prepareFileWrites } from './file-writes.ts'
import { prepareInstallationWrites } from './installation-writes.ts'
import { prepareIntegrityWrites } from './integrity-writes.ts'
import { prepareInventoryWrites } from './inventory-writes.ts'
import { prepareLeaseWrites } from './lease-writes.ts'
import { prepareNonceWrites } from './nonce-writes.ts'
import { prepareObjectRelease } from './object-release.ts'
import { prepareOfferWrites } from './offer-writes.ts'
import { prepareQuotaWrites } from './quota-writes.ts'
import { prepareSecretWrites } from './secret-writes.ts'
import type { Sql, Steps } from './sql.ts'
import { prepareTokenWrites } from './token-writes.ts'

/**
 * Every change that can be made to the records, by name. A write takes one value and answers one value, both plain data, so
 * that it can cross to another thread; its steps decide and change, inside one transaction of the engine that runs them.
 */
export function prepareWrites(db: Sql) {
  const discards = prepareDiscardWrites(db)
  const integrity = prepareIntegrityWrites(db)
  const contents = prepareContentWrites(db, integrity)
  const deals = prepareDealWrites(db)
  const quotas = prepareQuotaWrites(db, contents, discards, deals)
  const release = prepareObjectRelease(db, contents, discards)
  const files = prepareFileWrites(db, release)
  const revival = prepareFileRevival(db)
  const compositions = prepareCompositionWrites(db, contents, release)
  const tokens = prepareTokenWrites(db)
  const loginCodes = prepareLoginCodeWrites(db)
  const nonces = prepareNonceWrites(db)
  const chain = prepareChainWrites(db)
  const copies = prepareCopyWrites(db)
  const additions = prepareAdditionWrites(db, copies)
  const aggregates = prepareAggregateWrites(db, copies)
  const offers = prepareOfferWrites(db)
  const leases = prepareLeaseWrites(db)
  const inventory = prepareInventoryWrites(db, discards)
  const secrets = prepareSecretWrites(db)
  const installation = prepareInstallationWrites(db)
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
    postponeFiles: files.postpone,
    releaseEnded: release.releaseDue,
    reviveFiles: revival.revive,
    compose: compositions.commit,
    sweepBlocks: contents.sweepBlocks,
    signUp: tokens.signUp,
    revokeToken: tokens.revoke,
    touchTokens: tokens.touch,
    openLoginCode: loginCodes.open,
    withdrawLoginCode: loginCodes.withdraw,
    answerLoginCode: loginCodes.answer,
    expireLoginCodes: loginCodes.expire,
    useNonce: nonces.use,
    issueNonce: nonces.issue,
    redeemNonce: nonces.redeem,
    expireNonces: nonces.expire,
    beginDiscard: discards.begin,
    finishDiscard: discards.finish,
    queueDeals: chain.queueDeals,
    proposeDeals: chain.propose,
    recordTransaction: chain.record,
    addTransactionAttempt: chain.addAttempt,
    transactionMined: chain.mined,
    transactionReorganised: chain.reorganised,
    transactionFinal: chain.final,
    transactionSuperseded: chain.superseded,
    enrolFiles: deals.enrol,
    wantCopies: deals.want,
    extendFile: deals.extend,
    aggregateFiles: aggregates.aggregate,
    dissolveAggregate: aggregates.dissolve,
    reconcilePiece: copies.reconcile,
    markAllUnreconciled: copies.markAllUnreconciled,
    copyParked: copies.parked,
    copyLater: copies.retryLater,
    failCopy: copies.fail,
    copyAudited: copies.audited,
    copyRemoved: copies.removed,
    openAddition: additions.openAddition,
    additionSent: additions.additionSent,
    additionLater: additions.additionLater,
    additionConfirmed: additions.additionConfirmed,
    additionRejected: additions.additionRejected,
    openOffer: offers.open,
    closeOffer: offers.close,
    expireOffers: offers.expire,
    takeLease: leases.take,
    giveBackLease: leases.giveBack,
    setMark: inventory.setMark,
    planOrphan: inventory.planOrphan,
    letOrphansBe: inventory.letOrphansBe,
    usePut: inventory.usePut,
    forgetPuts: inventory.forgetPuts,
    setChunkDigests: integrity.setChunkDigests,
    setDamaged: integrity.setDamaged,
    clearDamaged: integrity.clearDamaged,
    sealRows: integrity.sealRows,
    offerSecret: secrets.offer,
    replaceSecret: secrets.replace,
    offerInstallation: installation.offer,
    pairInstallation: installation.pair,
    raiseInstallation: installation.raise,
    replaceInstallation: installation.replace,
    *registerInstance({ instanceId, now }: { instanceId: string; now: number }): Steps<void> {
      yield* registerInstance.run(instanceId, now)
    },
    *deregisterInstance(request: { instanceId: string; now: number }): Steps<{ readonly reservations: number }> {
      const { instanceId, now } = request
      const reservations = yield* quotas.releaseAllOf(instanceId, now)
      yield* discards.abandonAllOf(instanceId)
      yield* forgetInstance.run(instanceId)
      return { reservations }
    },
  }
}

/** What steps answer in the end. */
export type StepsValue<Of> = Of extends Steps<infer Value> ? Value : never

export type Writes = ReturnType<typeof prepareWrites>
export type WriteName = keyof Writes
export type WriteInput<Name extends WriteName> = Parameters<Writes[Name]>[0]
export type WriteOutput<Name extends WriteName> = StepsValue<ReturnType<Writes[Name]>>
