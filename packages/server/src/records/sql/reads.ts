import { prepareAccountReads } from './account-reads.ts'
import { prepareBlockReads } from './block-reads.ts'
import { prepareChainReads } from './chain-reads.ts'
import { prepareLoginCodeReads } from './login-code-reads.ts'
import { prepareCompositionReads } from './composition-reads.ts'
import { prepareCopyReads } from './copy-reads.ts'
import { prepareDealReads } from './deal-reads.ts'
import { prepareFileReads } from './file-reads.ts'
import { prepareInstallationReads } from './installation-reads.ts'
import { prepareIntegrityReads } from './integrity-reads.ts'
import { prepareInventoryReads } from './inventory-reads.ts'
import { prepareNonceReads } from './nonce-reads.ts'
import { prepareOfferReads } from './offer-reads.ts'
import { preparePieceReads } from './piece-reads.ts'
import { preparePlacementReads } from './placement-reads.ts'
import { prepareQuotaReads } from './quota-reads.ts'
import type { Sql } from './sql.ts'
import type { StepsValue } from './writes.ts'

/** Every question that can be asked of the records, by name. A read takes one value and answers one value. */
export function prepareReads(db: Sql) {
  const files = prepareFileReads(db)
  const blocks = prepareBlockReads(db)
  const compositions = prepareCompositionReads(db)
  const accounts = prepareAccountReads(db)
  const loginCodes = prepareLoginCodeReads(db)
  const quotas = prepareQuotaReads(db)
  const nonces = prepareNonceReads(db)
  const placements = preparePlacementReads(db)
  const pieces = preparePieceReads(db)
  const copies = prepareCopyReads(db)
  const deals = prepareDealReads(db)
  const chain = prepareChainReads(db)
  const offers = prepareOfferReads(db)
  const inventory = prepareInventoryReads(db)
  const installation = prepareInstallationReads(db)
  const integrity = prepareIntegrityReads(db)
  const secret = db.prepare<[string], string>('SELECT value FROM secrets WHERE name = ?').pluck()

  return {
    previewQuota: quotas.decide,
    usage: accounts.usage,
    checkDrift: (_: undefined) => accounts.checkDrift(),
    servingAtOnce: files.servingAtOnce,
    serving: files.serving,
    inlineBytes: files.inlineBytes,
    latestFile: files.latest,
    fileBySequence: files.bySequence,
    listFiles: files.list,
    newestFile: (_: undefined) => files.newest(),
    countBack: files.countBack,
    listDeals: files.listDeals,
    fileByDeal: files.byDeal,
    piecesOfKeys: files.pieces,
    findBlock: blocks.find,
    blockDigests: blocks.digests,
    findParts: compositions.find,
    factsOfParts: compositions.factsOf,
    partsOf: compositions.partsOf,
    revocation: accounts.revocation,
    listTokens: ({ sub }: { sub: string }) => accounts.tokens(sub),
    findLoginCode: loginCodes.find,
    isNonceUsed: nonces.isUsed,
    isNonceIssued: nonces.isIssued,
    unenrolled: placements.unenrolled,
    enrolledUpTo: (_: undefined) => placements.enrolledUpTo(),
    waitingFiles: placements.waiting,
    membersOf: pieces.membersOf,
    unreconciledPieces: placements.unreconciled,
    dueCopies: copies.due,
    additions: (_: undefined) => copies.additions(),
    dataSetOf: copies.dataSetOf,
    removableCopies: copies.removable,
    audits: deals.audits,
    statuses: deals.statuses,
    aggregatesOf: deals.aggregatesOf,
    deals: deals.deals,
    recordedPiece: pieces.recorded,
    pieceOf: pieces.pieceOf,
    dealCounts: (_: undefined) => deals.counts(),
    hasDealsToQueue: chain.hasDealsToQueue,
    queuedDeals: chain.queued,
    nextNonce: chain.nextNonce,
    transactions: chain.transactions,
    onchainDealsOf: chain.dealsOf,
    fileOfOnchainDeal: chain.fileOf,
    tooShortDeals: chain.tooShort,
    findOffer: offers.find,
    instances: (_: undefined) => accounts.instances(),
    pendingDiscards: accounts.pendingDiscards,
    storedBlobs: inventory.stored,
    putsOfBlob: inventory.puts,
    knownBlobs: inventory.known,
    orphans: (_: undefined) => inventory.orphans(),
    mark: inventory.mark,
    installation: (_: undefined) => installation.find(),
    chunkDigests: integrity.chunkDigests,
    withoutChunks: integrity.withoutChunks,
    withoutChunksCount: (_: undefined) => integrity.withoutChunksCount(),
    inlineObjects: integrity.inlineObjects,
    damageOf: integrity.damageOf,
    damaged: integrity.damaged,
    damagedCount: (_: undefined) => integrity.damagedCount(),
    secret: (name: string) => secret.get(name),
  }
}

export type Reads = ReturnType<typeof prepareReads>
export type ReadName = keyof Reads
export type ReadInput<Name extends ReadName> = Parameters<Reads[Name]>[0]
export type ReadOutput<Name extends ReadName> = StepsValue<ReturnType<Reads[Name]>>

/** Reads of several statements that have to see one state of the records, whatever is committed between them. */
export const SNAPSHOT_READS: ReadonlySet<ReadName> = new Set<ReadName>([
  'usage',
  'serving',
  'latestFile',
  'piecesOfKeys',
  'findBlock',
  'findParts',
  'factsOfParts',
  'unenrolled',
  'unreconciledPieces',
  'dueCopies',
  'additions',
  'removableCopies',
  'deals',
  'recordedPiece',
  'pieceOf',
  'dealCounts',
])
