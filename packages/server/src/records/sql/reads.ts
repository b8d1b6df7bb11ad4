import type { AdmitRequest, ReserveOutcome } from '../record-store.ts'
import { prepareAccountReads } from './account-reads.ts'
import { prepareAdminReads } from './admin-reads.ts'
import { prepareAuditLogReads } from './audit-log-reads.ts'
import { prepareBlockReads } from './block-reads.ts'
import { prepareBlockedCallerReads } from './blocked-caller-reads.ts'
import { prepareChainReads } from './chain-reads.ts'
import { prepareClaimReads } from './claim-reads.ts'
import { prepareCompositionReads } from './composition-reads.ts'
import { prepareCopyReads } from './copy-reads.ts'
import { prepareDealReads } from './deal-reads.ts'
import { prepareEscrowReads } from './escrow-reads.ts'
import { prepareFileReads } from './file-reads.ts'
import { prepareInstallationReads } from './installation-reads.ts'
import { prepareIntegrityReads } from './integrity-reads.ts'
import { prepareInventoryReads } from './inventory-reads.ts'
import { prepareLimitReads } from './limit-reads.ts'
import { prepareLoginCodeReads } from './login-code-reads.ts'
import { prepareMemberReads } from './member-reads.ts'
import { prepareNonceReads } from './nonce-reads.ts'
import { prepareOfferReads } from './offer-reads.ts'
import { prepareOpenUploadReads } from './open-upload-reads.ts'
import { preparePieceReads } from './piece-reads.ts'
import { preparePlacementReads } from './placement-reads.ts'
import { prepareQuotaReads } from './quota-reads.ts'
import { prepareSessionReads } from './session-reads.ts'
import type { Sql, Steps } from './sql.ts'
import { prepareTakedownReads } from './takedown-reads.ts'
import { prepareTokenReads } from './token-reads.ts'
import type { StepsValue } from './writes.ts'

/** Every question that can be asked of the records, by name. A read takes one value and answers one value. */
export function prepareReads(db: Sql) {
  const files = prepareFileReads(db)
  const blocks = prepareBlockReads(db)
  const compositions = prepareCompositionReads(db)
  const members = prepareMemberReads(db)
  const accounts = prepareAccountReads(db)
  const admin = prepareAdminReads(db)
  const audit = prepareAuditLogReads(db)
  const limits = prepareLimitReads(db)
  const tokens = prepareTokenReads(db)
  const loginCodes = prepareLoginCodeReads(db)
  const sessions = prepareSessionReads(db)
  const claims = prepareClaimReads(db)
  const quotas = prepareQuotaReads(db)
  const nonces = prepareNonceReads(db)
  const placements = preparePlacementReads(db)
  const pieces = preparePieceReads(db)
  const copies = prepareCopyReads(db)
  const deals = prepareDealReads(db)
  const chain = prepareChainReads(db)
  const escrow = prepareEscrowReads(db)
  const offers = prepareOfferReads(db)
  const openUploads = prepareOpenUploadReads(db)
  const inventory = prepareInventoryReads(db)
  const installation = prepareInstallationReads(db)
  const integrity = prepareIntegrityReads(db)
  const takedowns = prepareTakedownReads(db)
  const callers = prepareBlockedCallerReads(db)
  const secret = db.prepare<[string], string>('SELECT value FROM secrets WHERE name = ?').pluck()

  return {
    *'quotas.preview'(request: AdmitRequest): Steps<ReserveOutcome> {
      return (yield* quotas.decide(request)).outcome
    },
    'limits.find': ({ principal, now }: { principal: string; now: number }) => limits.limitsOf(principal, now),
    'limits.tokenUsage': quotas.tokenUsage,
    'quotas.usage': accounts.usage,
    'quotas.checkDrift': (_: undefined) => accounts.checkDrift(),
    'files.servingAtOnce': files.servingAtOnce,
    'files.serving': files.serving,
    'files.publicUntil': files.publicUntil,
    'files.inlineBytes': files.inlineBytes,
    'files.latest': files.latest,
    'files.bySequence': files.bySequence,
    'files.list': files.list,
    'files.countBack': files.countBack,
    'files.listDeals': files.listDeals,
    'files.byDeal': files.byDeal,
    'files.newest': (_: undefined) => files.newest(),
    'content.pieces': files.pieces,
    'blocks.find': blocks.find,
    'blocks.digests': blocks.digests,
    'compositions.find': compositions.find,
    'compositions.factsOf': compositions.factsOf,
    'compositions.partsOf': compositions.partsOf,
    'folders.find': members.find,
    'folders.membersOf': members.membersOf,
    'folders.uncounted': members.uncounted,
    'claims.find': claims.find,
    'tokens.status': tokens.status,
    'tokens.revocation': tokens.revocation,
    'tokens.list': tokens.list,
    'loginCodes.find': loginCodes.find,
    'loginCodes.isAwaited': loginCodes.isAwaited,
    'sessions.find': sessions.find,
    'sessions.list': sessions.list,
    'placements.unenrolled': placements.unenrolled,
    'placements.enrolledUpTo': (_: undefined) => placements.enrolledUpTo(),
    'placements.waiting': placements.waiting,
    'placements.carCandidates': placements.carCandidates,
    'placements.membersOf': pieces.membersOf,
    'placements.unreconciled': placements.unreconciled,
    'placements.due': copies.due,
    'placements.additions': (_: undefined) => copies.additions(),
    'placements.oldestWaiting': (_: undefined) => copies.oldestWaiting(),
    'placements.dataSetOf': copies.dataSetOf,
    'placements.removable': copies.removable,
    'placements.audits': deals.audits,
    'placements.statuses': deals.statuses,
    'placements.aggregatesOf': deals.aggregatesOf,
    'placements.deals': deals.deals,
    'placements.recorded': pieces.recorded,
    'placements.pieceOf': pieces.pieceOf,
    'placements.counts': (_: undefined) => deals.counts(),
    'offers.find': offers.find,
    'openUploads.find': openUploads.find,
    'openUploads.hasExpired': openUploads.hasExpired,
    'openUploads.known': openUploads.known,
    'secrets.find': (name: string) => secret.get(name),
    'installation.find': (_: undefined) => installation.find(),
    'inventory.stored': inventory.stored,
    'inventory.known': inventory.known,
    'inventory.orphans': (_: undefined) => inventory.orphans(),
    'inventory.puts': inventory.puts,
    'inventory.mark': inventory.mark,
    'integrity.chunkDigests': integrity.chunkDigests,
    'integrity.withoutChunks': integrity.withoutChunks,
    'integrity.withoutChunksCount': (_: undefined) => integrity.withoutChunksCount(),
    'integrity.inlineObjects': integrity.inlineObjects,
    'integrity.damageOf': integrity.damageOf,
    'integrity.damaged': integrity.damaged,
    'integrity.damagedCount': (_: undefined) => integrity.damagedCount(),
    'chain.hasDealsToQueue': chain.hasDealsToQueue,
    'chain.queued': chain.queued,
    'chain.nextNonce': chain.nextNonce,
    'chain.transactions': chain.transactions,
    'chain.dealsOf': chain.dealsOf,
    'chain.fileOf': chain.fileOf,
    'chain.tooShort': chain.tooShort,
    'escrow.scannedTo': escrow.scannedTo,
    'escrow.firstBlock': escrow.firstBlock,
    'escrow.due': escrow.due,
    'escrow.find': escrow.find,
    'escrow.totals': escrow.totals,
    'escrow.spent': escrow.spent,
    'nonces.isUsed': nonces.isUsed,
    'nonces.isIssued': nonces.isIssued,
    'takedowns.revision': (_: undefined) => takedowns.revision(),
    'takedowns.changes': takedowns.changes,
    'takedowns.list': takedowns.list,
    'takedowns.namesOf': takedowns.namesOf,
    'takedowns.hasBlock': takedowns.hasBlock,
    'blockedCallers.revision': (_: undefined) => callers.revision(),
    'blockedCallers.changes': callers.changes,
    'blockedCallers.list': callers.list,
    'blockedCallers.removing': (_: undefined) => callers.removing(),
    'blockedCallers.principals': callers.principals,
    'instances.list': (_: undefined) => accounts.instances(),
    'discards.pending': accounts.pendingDiscards,
    'admin.totals': admin.totals,
    'admin.principals': admin.principals,
    'admin.files': admin.files,
    'admin.uploads': admin.uploads,
    'admin.leases': (_: undefined) => admin.leases(),
    'admin.removals': (_: undefined) => admin.removals(),
    'audit.keyInUse': (_: undefined) => audit.keyInUse(),
    'audit.lines': audit.lines,
    'audit.page': audit.page,
  }
}

export type Reads = ReturnType<typeof prepareReads>
export type ReadName = keyof Reads
export type ReadInput<Name extends ReadName> = Parameters<Reads[Name]>[0]
export type ReadOutput<Name extends ReadName> = StepsValue<ReturnType<Reads[Name]>>

/** Reads of several statements that have to see one state of the records, whatever is committed between them. */
export const SNAPSHOT_READS: ReadonlySet<ReadName> = new Set<ReadName>([
  'quotas.usage',
  'files.serving',
  'files.latest',
  'content.pieces',
  'blocks.find',
  'compositions.find',
  'compositions.factsOf',
  'folders.find',
  'folders.membersOf',
  'claims.find',
  'placements.unenrolled',
  'placements.unreconciled',
  'placements.due',
  'placements.additions',
  'placements.removable',
  'placements.audits',
  'placements.deals',
  'placements.recorded',
  'placements.pieceOf',
  'placements.counts',
  'placements.oldestWaiting',
  'takedowns.changes',
  'takedowns.namesOf',
  'takedowns.hasBlock',
  'blockedCallers.changes',
  'admin.totals',
  'limits.tokenUsage',
])
