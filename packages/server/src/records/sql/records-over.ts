import type { CommitOutcome, Fence, FileCommit, RecordStore } from '../record-store.ts'
import type { CommitReply } from './file-recording.ts'
import { fileFromCommit } from './file-row.ts'
import { ownBytes, ownCommit, ownFacts } from './own-bytes.ts'
import { countingPromises } from './promised-writes.ts'
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
      reserve: (request) => write('quotas.reserve', request),
      grow: (request) => write('quotas.grow', request),
      claim: (request) => write('quotas.claim', request),
      preview: (request) => read('quotas.preview', request),
      async commit(commit) {
        return withFile(commit, await write('quotas.commit', ownCommit(commit)))
      },
      async commitAtOnce({ admit, commit }) {
        return withFile(commit, await write('quotas.commitAtOnce', { admit, commit: ownCommit(commit) }))
      },
      async commitTogether({ admit, commits }) {
        const replies = await write('quotas.commitTogether', { admit, commits: commits.map(ownCommit) })
        return commits.map((commit, index) => withFile(commit, replies[index] ?? { outcome: 'lost' }))
      },
      release: (request) => write('quotas.release', request),
      extendLeases: (request) => write('quotas.extendLeases', request),
      releaseExpired: (request) => write('quotas.releaseExpired', request),
      usage: (request) => read('quotas.usage', request),
      checkDrift: () => read('quotas.checkDrift', undefined),
    },
    openUploads: {
      create: (request) => write('openUploads.create', request),
      find: (request) => read('openUploads.find', request),
      take: (request) => write('openUploads.take', request),
      advance: (request) => write('openUploads.advance', request),
      giveBack: (request) => write('openUploads.giveBack', request),
      end: (request) => write('openUploads.end', request),
      // Mostly nothing has expired, and then nobody has to write.
      expire: async (request) =>
        (await read('openUploads.hasExpired', request)) ? write('openUploads.expire', request) : [],
      known: (ids) => read('openUploads.known', ids),
    },
    files: {
      // What is asked for most takes two statements, and no snapshot of the records.
      serving: async (request) => (await read('files.servingAtOnce', request)) ?? read('files.serving', request),
      publicUntil: (request) => read('files.publicUntil', request),
      inlineBytes: (object) => read('files.inlineBytes', object),
      latest: (request) => read('files.latest', request),
      bySequence: (sequence) => read('files.bySequence', sequence),
      list: (request) => read('files.list', request),
      countBack: (request) => read('files.countBack', request),
      listDeals: (request) => read('files.listDeals', request),
      byDeal: (request) => read('files.byDeal', request),
      change: (request) => write('files.change', request),
      remove: (request) => write('files.remove', request),
      expire: (request) => write('files.expire', request),
      newest: () => read('files.newest', undefined),
      postpone: (request) => write('files.postpone', request),
      releaseEnded: (request) => write('files.releaseEnded', request),
      revive: (request) => write('files.revive', request),
    },
    content: { pieces: (request) => read('content.pieces', request) },
    blocks: {
      find: (request) => read('blocks.find', request),
      digests: (request) => read('blocks.digests', request),
      sweep: (request) => write('blocks.sweep', request),
    },
    compositions: {
      find: (request) => read('compositions.find', request),
      commit: (commit) => write('compositions.commit', { ...commit, content: ownFacts(commit.content) }),
      factsOf: (files) => read('compositions.factsOf', files),
      partsOf: (object) => read('compositions.partsOf', object),
    },
    folders: {
      find: (request) => read('folders.find', request),
      membersOf: (object) => read('folders.membersOf', object),
      uncounted: (request) => read('folders.uncounted', request),
      setCounted: (request) => write('folders.setCounted', request),
    },
    claims: {
      find: (question) => read('claims.find', question),
      take: (request) => write('claims.take', request),
    },
    tokens: {
      signUp: (request) => write('tokens.signUp', request),
      status: (shown) => read('tokens.status', shown),
      revocation: (jti) => read('tokens.revocation', jti),
      record: (request) => write('tokens.record', request),
      list: (request) => read('tokens.list', request),
      revoke: (request) => write('tokens.revoke', request),
      revokeAny: (request) => write('tokens.revokeAny', request),
      revokeUser: (request) => write('tokens.revokeUser', request),
      forget: (request) => write('tokens.forget', request),
      touch: (uses) => write('tokens.touch', uses),
    },
    loginCodes: {
      open: (request) => write('loginCodes.open', request),
      withdraw: (request) => write('loginCodes.withdraw', request),
      find: (request) => read('loginCodes.find', request),
      answer: (request) => write('loginCodes.answer', request),
      isAwaited: (request) => read('loginCodes.isAwaited', request),
      answerByEmail: (request) => write('loginCodes.answerByEmail', request),
      expire: (request) => write('loginCodes.expire', request),
    },
    sessions: {
      open: (request) => write('sessions.open', request),
      find: (request) => read('sessions.find', request),
      list: (request) => read('sessions.list', request),
      signOut: (digest) => write('sessions.signOut', digest),
      end: (request) => write('sessions.end', request),
      touch: (uses) => write('sessions.touch', uses),
      expire: (request) => write('sessions.expire', request),
    },
    placements: {
      unenrolled: (request) => read('placements.unenrolled', request),
      enrolledUpTo: () => read('placements.enrolledUpTo', undefined),
      enrol: (request) => write('placements.enrol', request),
      waiting: (request) => read('placements.waiting', request),
      aggregate: (request) => write('placements.aggregate', request),
      membersOf: (piece) => read('placements.membersOf', piece),
      dissolve: (request) => write('placements.dissolve', request),
      carCandidates: (request) => read('placements.carCandidates', request),
      carChecked: (request) => write('placements.carChecked', request),
      addCar: (request) => write('placements.addCar', request),
      unreconciled: (request) => read('placements.unreconciled', request),
      reconcile: (request) => write('placements.reconcile', request),
      markAllUnreconciled: (request) => write('placements.markAllUnreconciled', request),
      due: (request) => read('placements.due', request),
      parked: (request) => write('placements.parked', request),
      parkAgain: (request) => write('placements.parkAgain', request),
      retryLater: (request) => write('placements.retryLater', request),
      fail: (request) => write('placements.fail', request),
      openAddition: (request) => write('placements.openAddition', request),
      additions: () => read('placements.additions', undefined),
      additionSent: (request) => write('placements.additionSent', request),
      additionLater: (request) => write('placements.additionLater', request),
      additionConfirmed: (request) => write('placements.additionConfirmed', request),
      additionRejected: (request) => write('placements.additionRejected', request),
      dataSetOf: (request) => read('placements.dataSetOf', request),
      removable: (request) => read('placements.removable', request),
      removed: (request) => write('placements.removed', request),
      audited: (request) => write('placements.audited', request),
      moveOldAudits: (request) => write('placements.moveOldAudits', request),
      audits: (request) => read('placements.audits', request),
      statuses: (files) => read('placements.statuses', files),
      aggregatesOf: (objects) => read('placements.aggregatesOf', objects),
      deals: (files) => read('placements.deals', files),
      recorded: (request) => read('placements.recorded', request),
      pieceOf: (request) => read('placements.pieceOf', request),
      want: (request) => write('placements.want', request),
      counts: () => read('placements.counts', undefined),
      oldestWaiting: () => read('placements.oldestWaiting', undefined),
    },
    offers: {
      open: (request) => write('offers.open', request),
      find: (request) => read('offers.find', request),
      close: (id) => write('offers.close', id),
      expire: (request) => write('offers.expire', request),
    },
    leases: {
      take: (request) => write('leases.take', request),
      giveBack: (request) => write('leases.giveBack', request),
    },
    secrets: {
      find: (name) => read('secrets.find', name),
      offer: (request) => write('secrets.offer', request),
      replace: (request) => write('secrets.replace', request),
    },
    installation: {
      find: () => read('installation.find', undefined),
      offer: (id) => write('installation.offer', id),
      pair: (id) => write('installation.pair', id),
      raise: () => write('installation.raise', undefined),
      replace: (request) => write('installation.replace', request),
      promised,
    },
    inventory: {
      stored: (request) => read('inventory.stored', request),
      known: (digests) => read('inventory.known', digests),
      planOrphan: (request) => write('inventory.planOrphan', request),
      letOrphansBe: () => write('inventory.letOrphansBe', undefined),
      keepAsOrphans: (request) => write('inventory.keepAsOrphans', request),
      orphans: () => read('inventory.orphans', undefined),
      puts: (sha256) => read('inventory.puts', sha256),
      usePut: (request) => write('inventory.usePut', request),
      forgetPuts: () => write('inventory.forgetPuts', undefined),
      mark: (name) => read('inventory.mark', name),
      setMark: (request) => write('inventory.setMark', request),
    },
    integrity: {
      chunkDigests: (request) => read('integrity.chunkDigests', request),
      setChunkDigests: ({ sha256, digests }) =>
        write('integrity.setChunkDigests', { sha256, digests: ownBytes(digests) }),
      withoutChunks: (request) => read('integrity.withoutChunks', request),
      withoutChunksCount: () => read('integrity.withoutChunksCount', undefined),
      inlineObjects: (request) => read('integrity.inlineObjects', request),
      setDamaged: (request) => write('integrity.setDamaged', request),
      clearDamaged: (object) => write('integrity.clearDamaged', object),
      damageOf: (object) => read('integrity.damageOf', object),
      sealRows: (request) => write('integrity.sealRows', request),
      damaged: (request) => read('integrity.damaged', request),
      damagedCount: () => read('integrity.damagedCount', undefined),
    },
    chain: {
      adopt: (request) => write('chain.adopt', request),
      // Mostly there is nothing to queue, and then nobody has to write.
      queueDeals: async (request) =>
        (await read('chain.hasDealsToQueue', request)) ? write('chain.queueDeals', request) : 0,
      queued: (request) => read('chain.queued', request),
      nextNonce: (account) => read('chain.nextNonce', account),
      propose: (request) => write('chain.propose', request),
      record: (request) => write('chain.record', request),
      addAttempt: (request) => write('chain.addAttempt', request),
      transactions: (request) => read('chain.transactions', request),
      mined: (request) => write('chain.mined', request),
      reorganised: (request) => write('chain.reorganised', request),
      final: (request) => write('chain.final', request),
      superseded: (request) => write('chain.superseded', request),
      dealsOf: (copies) => read('chain.dealsOf', copies),
      fileOf: (request) => read('chain.fileOf', request),
      tooShort: (request) => read('chain.tooShort', request),
    },
    escrow: {
      scannedTo: (contract) => read('escrow.scannedTo', contract),
      firstBlock: (account) => read('escrow.firstBlock', account),
      apply: (request) => write('escrow.apply', request),
      due: (request) => read('escrow.due', request),
      checked: (request) => write('escrow.checked', request),
      find: (deals) => read('escrow.find', deals),
      totals: (contracts) => read('escrow.totals', contracts),
      spent: (request) => read('escrow.spent', request),
    },
    nonces: {
      isUsed: (request) => read('nonces.isUsed', request),
      isIssued: (request) => read('nonces.isIssued', request),
      use: (request) => write('nonces.use', request),
      issue: (request) => write('nonces.issue', request),
      redeem: (request) => write('nonces.redeem', request),
      expire: (request) => write('nonces.expire', request),
    },
    takedowns: {
      revision: () => read('takedowns.revision', undefined),
      changes: (request) => read('takedowns.changes', request),
      list: (request) => read('takedowns.list', request),
      block: (request) => write('takedowns.block', request),
      lift: (request) => write('takedowns.lift', request),
      namesOf: (object) => read('takedowns.namesOf', object),
      hasBlock: (multihash) => read('takedowns.hasBlock', multihash),
    },
    blockedCallers: {
      revision: () => read('blockedCallers.revision', undefined),
      changes: (request) => read('blockedCallers.changes', request),
      list: (request) => read('blockedCallers.list', request),
      block: (request) => write('blockedCallers.block', request),
      lift: (request) => write('blockedCallers.lift', request),
      removing: () => read('blockedCallers.removing', undefined),
      removed: (id) => write('blockedCallers.removed', id),
      principals: (request) => read('blockedCallers.principals', request),
      endFiles: (request) => write('blockedCallers.endFiles', request),
    },
    instances: {
      register: (request) => write('instances.register', request),
      list: () => read('instances.list', undefined),
      deregister: (request) => write('instances.deregister', request),
    },
    limits: {
      find: (request) => read('limits.find', request),
      set: (request) => write('limits.set', request),
      tokenUsage: (request) => read('limits.tokenUsage', request),
    },
    audit: {
      append: (entry) => write('audit.append', entry),
      // Mostly it is the same key, and then nobody has to write.
      keyInUse: async (request) => {
        if ((await read('audit.keyInUse', undefined)) !== request.keyId) await write('audit.keyInUse', request)
      },
      lines: (request) => read('audit.lines', request),
      page: (request) => read('audit.page', request),
    },
    erasure: {
      signIns: (request) => write('erasure.signIns', request),
      endFiles: (request) => write('erasure.endFiles', request),
      endedFiles: (request) => write('erasure.endedFiles', request),
      oldFiles: (request) => write('erasure.oldFiles', request),
      thinEnded: (request) => write('erasure.thinEnded', request),
      forgetObjects: (request) => write('erasure.forgetObjects', request),
      oldAddresses: (request) => write('erasure.oldAddresses', request),
      oldTokens: (request) => write('erasure.oldTokens', request),
    },
    admin: {
      totals: (request) => read('admin.totals', request),
      noteStored: (request) => write('admin.noteStored', request),
      principals: (request) => read('admin.principals', request),
      files: (request) => read('admin.files', request),
      uploads: (request) => read('admin.uploads', request),
      leases: () => read('admin.leases', undefined),
      removals: () => read('admin.removals', undefined),
    },
    discards: {
      pending: (request) => read('discards.pending', request),
      begin: (request) => write('discards.begin', request),
      finish: (request) => write('discards.finish', request),
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
  const { sequence, ...recorded } = reply
  return { ...recorded, file: fileFromCommit(commit, sequence) }
}

function isRecorded(reply: unknown): reply is RecordedReply {
  return typeof reply === 'object' && reply !== null && 'outcome' in reply && reply.outcome === 'recorded'
}
