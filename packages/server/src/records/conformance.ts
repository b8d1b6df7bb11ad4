import { describe, test } from 'vitest'
import { additionCases } from './conformance/addition-cases.ts'
import { adminCases } from './conformance/admin-cases.ts'
import { aggregateCases } from './conformance/aggregate-cases.ts'
import { aliasCases } from './conformance/alias-cases.ts'
import { auditCases } from './conformance/audit-cases.ts'
import { auditLogCases } from './conformance/audit-log-cases.ts'
import { batchCases } from './conformance/batch-cases.ts'
import { blockCases } from './conformance/block-cases.ts'
import { blockedCallerCases } from './conformance/blocked-caller-cases.ts'
import { carCases } from './conformance/car-cases.ts'
import type { Cases } from './conformance/case.ts'
import { chainCases } from './conformance/chain-cases.ts'
import { changeCases } from './conformance/change-cases.ts'
import { claimCases } from './conformance/claim-cases.ts'
import { clockCases } from './conformance/clock-cases.ts'
import { composeCases } from './conformance/compose-cases.ts'
import { composeRaceCases } from './conformance/compose-race-cases.ts'
import { copyCases } from './conformance/copy-cases.ts'
import { dayCases } from './conformance/day-cases.ts'
import { dealCases } from './conformance/deal-cases.ts'
import { discardCases } from './conformance/discard-cases.ts'
import { enrolmentCases } from './conformance/enrolment-cases.ts'
import { erasureCases } from './conformance/erasure-cases.ts'
import { escrowCases } from './conformance/escrow-cases.ts'
import { extensionCases } from './conformance/extension-cases.ts'
import { fileCases } from './conformance/file-cases.ts'
import { folderCases } from './conformance/folder-cases.ts'
import { growthCases } from './conformance/growth-cases.ts'
import { installationCases } from './conformance/installation-cases.ts'
import { instanceCases } from './conformance/instance-cases.ts'
import { integrityCases } from './conformance/integrity-cases.ts'
import { lifecycleCases } from './conformance/lifecycle-cases.ts'
import { limitCases } from './conformance/limit-cases.ts'
import { listingCases } from './conformance/listing-cases.ts'
import { loginCodeCases } from './conformance/login-code-cases.ts'
import { nonceCases } from './conformance/nonce-cases.ts'
import { leaseCases, offerCases } from './conformance/offer-cases.ts'
import { opaqueKeyCases } from './conformance/opaque-key-cases.ts'
import { openUploadCases } from './conformance/open-upload-cases.ts'
import { parkedUploadCases } from './conformance/parked-upload-cases.ts'
import { partCases } from './conformance/part-cases.ts'
import { pieceCases } from './conformance/piece-cases.ts'
import { quotaCases } from './conformance/quota-cases.ts'
import { raceCases } from './conformance/race-cases.ts'
import { reconciliationCases } from './conformance/reconciliation-cases.ts'
import { inventoryCases, secretCases } from './conformance/secret-cases.ts'
import { servingCases } from './conformance/serving-cases.ts'
import { sessionCases } from './conformance/session-cases.ts'
import { statusCases } from './conformance/status-cases.ts'
import { takedownCases } from './conformance/takedown-cases.ts'
import { thinningCases } from './conformance/thinning-cases.ts'
import { togetherCases } from './conformance/together-cases.ts'
import { tokenCases } from './conformance/token-cases.ts'
import type { RecordStore } from './record-store.ts'

/** What the suite needs to know to exercise one record store. */
export interface RecordStoreSubject {
  /** Opens an empty store, before every test. */
  open(): Promise<RecordStore>
  /** Closes it and removes what it stored. */
  discard(store: RecordStore): Promise<void>
  /** Closes the store and opens the same data again, as after a restart. Absent for volatile stores. */
  reopen?(store: RecordStore): Promise<RecordStore>
  /** Opens another handle on the same data, as another process has. The suite closes it. */
  openSecond?(store: RecordStore): Promise<RecordStore>
  /** Makes the medium fail from the next call on. */
  breakNext?(store: RecordStore): void
  /** Gaps this store admits to, by exact test title. A gap that passes is a failure. */
  gaps?: readonly { readonly test: string; readonly because: string }[]
}

/**
 * Declares the cases that every record store passes, whatever its engine.
 *
 * @example
 * describeRecordStore('sqlite', { open: openOnTempFile, discard: closeAndRemove })
 */
export function describeRecordStore(name: string, subject: RecordStoreSubject): void {
  describe(`records on ${name}`, () => {
    const titles = new Set<string>()
    const cases = casesOf(subject, titles)
    describe('reservations and charges', () => quotaCases(cases))
    describe('uploads that are recorded together', () => togetherCases(cases))
    describe('uploads whose size is not known', () => growthCases(cases))
    describe('uploads in several requests', () => openUploadCases(cases))
    describe('files of a day, and networks', () => dayCases(cases))
    describe('limits', () => limitCases(cases))
    describe('folders', () => folderCases(cases))
    describe('races', () => raceCases(cases))
    describe('opaque keys', () => opaqueKeyCases(cases))
    describe('aliases', () => aliasCases(cases))
    describe('pieces', () => pieceCases(cases))
    describe('blocks', () => blockCases(cases))
    describe('parts', () => partCases(cases))
    describe('composed files', () => composeCases(cases))
    describe('races of compositions', () => composeRaceCases(cases))
    describe('claims of sponsored files', () => claimCases(cases))
    describe('deals', () => dealCases(cases))
    describe('claims and discards', () => discardCases(cases))
    describe('instances', () => instanceCases(cases))
    describe('serving', () => servingCases(cases))
    describe('files', () => fileCases(cases))
    describe('changes of files', () => changeCases(cases))
    describe('listing', () => listingCases(cases))
    describe('tokens', () => tokenCases(cases))
    describe('erasure', () => erasureCases(cases))
    describe('thinning', () => thinningCases(cases))
    describe('login codes', () => loginCodeCases(cases))
    describe('sessions', () => sessionCases(cases))
    describe('wrong clocks', () => clockCases(cases))
    describe('nonces', () => nonceCases(cases))
    describe('enrolments', () => enrolmentCases(cases))
    describe('ends and enrolments of many files', () => batchCases(cases))
    describe('uploads that are parked', () => parkedUploadCases(cases))
    describe('reconciliations', () => reconciliationCases(cases))
    describe('copies', () => copyCases(cases))
    describe('additions', () => additionCases(cases))
    describe('CARs', () => carCases(cases))
    describe('audits', () => auditCases(cases))
    describe('status of deals', () => statusCases(cases))
    describe('aggregates', () => aggregateCases(cases))
    describe('deals on the chain', () => chainCases(cases))
    describe('escrow', () => escrowCases(cases))
    describe('extensions of deals on the chain', () => extensionCases(cases))
    describe('offers', () => offerCases(cases))
    describe('leases', () => leaseCases(cases))
    describe('reads over all principals', () => adminCases(cases))
    describe('the audit log', () => auditLogCases(cases))
    describe('secrets', () => secretCases(cases))
    describe('installation', () => installationCases(cases))
    describe('inventory', () => inventoryCases(cases))
    describe('integrity', () => integrityCases(cases))
    describe('takedowns', () => takedownCases(cases))
    describe('blocked callers', () => blockedCallerCases(cases))
    describe('the store itself', () => lifecycleCases(cases))
    for (const gap of subject.gaps ?? []) {
      if (!titles.has(gap.test)) throw new TypeError(`No test is called "${gap.test}".`)
    }
  })
}

function casesOf(subject: RecordStoreSubject, titles: Set<string>): Cases {
  const { openSecond, reopen, breakNext } = subject
  const gaps = new Set(subject.gaps?.map((gap) => gap.test))

  function declare(title: string, isAble: boolean, run: (opened: { store: RecordStore }) => Promise<void>): void {
    titles.add(title)
    const declared = gaps.has(title) ? test.fails : test.skipIf(!isAble)
    declared(title, { meta: { skippedBecause: 'the driver has no means for a case of its port' } }, async () => {
      const opened = { store: await subject.open() }
      try {
        await run(opened)
      } finally {
        await subject.discard(opened.store)
      }
    })
  }

  return {
    it: (title, run) => declare(title, true, ({ store }) => run(store)),
    itWithTwo: (title, run) =>
      declare(title, openSecond !== undefined, async ({ store }) => {
        const other = await subject.openSecond?.(store)
        if (other === undefined) throw new TypeError('This subject has no second handle.')
        try {
          await run(store, other)
        } finally {
          await other.close()
        }
      }),
    itAcrossRestart: (title, run) =>
      declare(title, reopen !== undefined, (opened) =>
        run(opened.store, async () => {
          opened.store = (await subject.reopen?.(opened.store)) ?? opened.store
          return opened.store
        }),
      ),
    itBroken: (title, run) =>
      declare(title, breakNext !== undefined, ({ store }) => run(store, () => subject.breakNext?.(store))),
  }
}
