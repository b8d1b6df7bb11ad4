import type { CommitOutcome, Fence, FileCommit, RecordStore } from '../record-store.ts'
import { fileFromCommit } from './file-row.ts'
import { ownBytes, ownCommit, ownFacts } from './own-bytes.ts'
import { countingPromises } from './promised-writes.ts'
import type { CommitReply } from './quota-writes.ts'
import type { SqlEngine } from './sql-engine.ts'

type RecordedReply = Extract<CommitReply, { readonly outcome: 'recorded' }>
type RecordedOutcome = Extract<CommitOutcome, { readonly outcome: 'recorded' | 'retry' }>

type EngineOwn = 'traits' | 'disk' | 'generation' | 'time' | 'check' | 'close'

/** What is left of the engine: what it is, and how it is asked whether it lives and closed. */
export type RecordsOfEngine = Pick<RecordStore, EngineOwn>

/** The records, as reads and writes of an engine. */
export function recordsOver(engine: SqlEngine, own: RecordsOfEngine): RecordStore {
  const { read } = engine
  const { write, promised } = countingPromises(engine)
  return {
    ...own,
    quotas: {
      reserve: (request) => write('reserve', request),
      claim: (request) => write('claim', request),
      preview: (request) => read('previewQuota', request),
      async commit(commit) {
        return withFile(commit, await write('commit', ownCommit(commit)))
      },
      async commitAtOnce({ admit, commit }) {
        return withFile(commit, await write('commitAtOnce', { admit, commit: ownCommit(commit) }))
      },
      release: (request) => write('release', request),
      extendLeases: (request) => write('extendLeases', request),
      releaseExpired: (request) => write('releaseExpired', request),
      usage: (request) => read('usage', request),
      checkDrift: () => read('checkDrift', undefined),
    },
    files: {
      // What is asked for most takes two statements, and no snapshot of the records.
      serving: async (request) => (await read('servingAtOnce', request)) ?? read('serving', request),
      inlineBytes: (object) => read('inlineBytes', object),
      latest: (request) => read('latestFile', request),
      bySequence: (sequence) => read('fileBySequence', sequence),
      list: (request) => read('listFiles', request),
      countBack: (request) => read('countBack', request),
      listDeals: (request) => read('listDeals', request),
      byDeal: (request) => read('fileByDeal', request),
      remove: (request) => write('removeFile', request),
      expire: (request) => write('expireFiles', request),
      newest: () => read('newestFile', undefined),
      postpone: (request) => write('postponeFiles', request),
      releaseEnded: (request) => write('releaseEnded', request),
      revive: (request) => write('reviveFiles', request),
    },
    content: { pieces: (request) => read('piecesOfKeys', request) },
    blocks: {
      find: (request) => read('findBlock', request),
      digests: (request) => read('blockDigests', request),
      sweep: (request) => write('sweepBlocks', request),
    },
    compositions: {
      find: (request) => read('findParts', request),
      commit: (commit) => write('compose', { ...commit, content: ownFacts(commit.content) }),
      factsOf: (files) => read('factsOfParts', files),
      partsOf: (object) => read('partsOf', object),
    },
    tokens: {
      signUp: (request) => write('signUp', request),
      revocation: (jti) => read('revocation', jti),
      list: (request) => read('listTokens', request),
      revoke: (request) => write('revokeToken', request),
      touch: (uses) => write('touchTokens', uses),
    },
    loginCodes: {
      open: (request) => write('openLoginCode', request),
      withdraw: (request) => write('withdrawLoginCode', request),
      find: (request) => read('findLoginCode', request),
      answer: (request) => write('answerLoginCode', request),
      expire: (request) => write('expireLoginCodes', request),
    },
    placements: {
      unenrolled: (request) => read('unenrolled', request),
      enrolledUpTo: () => read('enrolledUpTo', undefined),
      enrol: (request) => write('enrolFiles', request),
      waiting: (request) => read('waitingFiles', request),
      aggregate: (request) => write('aggregateFiles', request),
      membersOf: (piece) => read('membersOf', piece),
      dissolve: (request) => write('dissolveAggregate', request),
      unreconciled: (request) => read('unreconciledPieces', request),
      reconcile: (request) => write('reconcilePiece', request),
      markAllUnreconciled: (request) => write('markAllUnreconciled', request),
      due: (request) => read('dueCopies', request),
      parked: (request) => write('copyParked', request),
      retryLater: (request) => write('copyLater', request),
      fail: (request) => write('failCopy', request),
      openAddition: (request) => write('openAddition', request),
      additions: () => read('additions', undefined),
      additionSent: (request) => write('additionSent', request),
      additionLater: (request) => write('additionLater', request),
      additionConfirmed: (request) => write('additionConfirmed', request),
      additionRejected: (request) => write('additionRejected', request),
      dataSetOf: (prover) => read('dataSetOf', prover),
      removable: (request) => read('removableCopies', request),
      removed: (request) => write('copyRemoved', request),
      audited: (request) => write('copyAudited', request),
      audits: (request) => read('audits', request),
      statuses: (files) => read('statuses', files),
      aggregatesOf: (objects) => read('aggregatesOf', objects),
      deals: (files) => read('deals', files),
      recorded: (request) => read('recordedPiece', request),
      pieceOf: (request) => read('pieceOf', request),
      want: (request) => write('wantCopies', request),
      extend: (request) => write('extendFile', request),
      counts: () => read('dealCounts', undefined),
    },
    offers: {
      open: (request) => write('openOffer', request),
      find: (request) => read('findOffer', request),
      close: (id) => write('closeOffer', id),
      expire: (request) => write('expireOffers', request),
    },
    leases: {
      take: (request) => write('takeLease', request),
      giveBack: (request) => write('giveBackLease', request),
    },
    secrets: {
      find: (name) => read('secret', name),
      offer: (request) => write('offerSecret', request),
      replace: (request) => write('replaceSecret', request),
    },
    installation: {
      find: () => read('installation', undefined),
      offer: (id) => write('offerInstallation', id),
      pair: (id) => write('pairInstallation', id),
      raise: () => write('raiseInstallation', undefined),
      replace: (request) => write('replaceInstallation', request),
      promised,
    },
    inventory: {
      stored: (request) => read('storedBlobs', request),
      known: (digests) => read('knownBlobs', digests),
      planOrphan: (request) => write('planOrphan', request),
      letOrphansBe: () => write('letOrphansBe', undefined),
      orphans: () => read('orphans', undefined),
      puts: (sha256) => read('putsOfBlob', sha256),
      usePut: (request) => write('usePut', request),
      forgetPuts: () => write('forgetPuts', undefined),
      mark: (name) => read('mark', name),
      setMark: (request) => write('setMark', request),
    },
    integrity: {
      chunkDigests: (request) => read('chunkDigests', request),
      setChunkDigests: ({ sha256, digests }) => write('setChunkDigests', { sha256, digests: ownBytes(digests) }),
      withoutChunks: (request) => read('withoutChunks', request),
      withoutChunksCount: () => read('withoutChunksCount', undefined),
      inlineObjects: (request) => read('inlineObjects', request),
      setDamaged: (request) => write('setDamaged', request),
      clearDamaged: (object) => write('clearDamaged', object),
      damageOf: (object) => read('damageOf', object),
      sealRows: (request) => write('sealRows', request),
      damaged: (request) => read('damaged', request),
      damagedCount: () => read('damagedCount', undefined),
    },
    chain: {
      // Mostly there is nothing to queue, and then nobody has to write.
      queueDeals: async (request) => ((await read('hasDealsToQueue', request)) ? write('queueDeals', request) : 0),
      queued: (request) => read('queuedDeals', request),
      nextNonce: (account) => read('nextNonce', account),
      propose: (request) => write('proposeDeals', request),
      record: (request) => write('recordTransaction', request),
      addAttempt: (request) => write('addTransactionAttempt', request),
      transactions: (request) => read('transactions', request),
      mined: (request) => write('transactionMined', request),
      reorganised: (request) => write('transactionReorganised', request),
      final: (request) => write('transactionFinal', request),
      superseded: (request) => write('transactionSuperseded', request),
      dealsOf: (copies) => read('onchainDealsOf', copies),
      fileOf: (request) => read('fileOfOnchainDeal', request),
      tooShort: (request) => read('tooShortDeals', request),
    },
    nonces: {
      isUsed: (request) => read('isNonceUsed', request),
      isIssued: (request) => read('isNonceIssued', request),
      use: (request) => write('useNonce', request),
      issue: (request) => write('issueNonce', request),
      redeem: (request) => write('redeemNonce', request),
      expire: (request) => write('expireNonces', request),
    },
    instances: {
      register: (request) => write('registerInstance', request),
      list: () => read('instances', undefined),
      deregister: (request) => write('deregisterInstance', request),
    },
    discards: {
      pending: (request) => read('pendingDiscards', request),
      begin: (request) => write('beginDiscard', request),
      finish: (request) => write('finishDiscard', request),
    },
    underLease(fence) {
      return recordsOver({ read, write: (name, input) => write(name, input, fence() ?? NO_FENCE) }, own)
    },
  }
}

/** Numbers of fences begin with 1. */
const NO_FENCE: Fence = { name: '', number: 0 }

/** A recorded file is what was committed, with its sequence; only that comes back from the writer. */
function withFile<Other>(commit: FileCommit, reply: Other | RecordedReply): Other | RecordedOutcome {
  if (!isRecorded(reply)) return reply
  const { sequence, usedBytes } = reply
  return { outcome: 'recorded', file: fileFromCommit(commit, sequence), usedBytes }
}

function isRecorded(reply: unknown): reply is RecordedReply {
  return typeof reply === 'object' && reply !== null && 'outcome' in reply && reply.outcome === 'recorded'
}
