import type { CommitOutcome, ContentFacts, DagCommit, FileCommit, RecordStore } from '../../record-store.ts'
import { prepareAccountReads } from './account-reads.ts'
import { prepareBlockReads } from './block-reads.ts'
import { chainRecords } from './chain-store.ts'
import { prepareChallengeReads } from './challenge-reads.ts'
import { prepareCompositionReads } from './composition-reads.ts'
import { type Connection, openConnection } from './connection.ts'
import { prepareFileReads } from './file-reads.ts'
import { fileFromCommit } from './file-row.ts'
import { migrate } from './migrate.ts'
import { nonceRecords } from './nonce-store.ts'
import { leaseRecords, offerRecords } from './offer-store.ts'
import { placementRecords } from './placement-store.ts'
import { prepareQuotaReads } from './quota-reads.ts'
import type { CommitReply } from './quota-writes.ts'
import { read } from './read.ts'
import { Writer } from './writer.ts'

type RecordedReply = Extract<CommitReply, { readonly outcome: 'recorded' }>
type RecordedOutcome = Extract<CommitOutcome, { readonly outcome: 'recorded' | 'retry' }>

export interface SqliteRecordStoreOptions {
  /** The database file; made when it is not there. Its folder must exist. */
  readonly file: string
  /** The file grows to this size and no further; then writes refuse with `insufficient_storage`. @default no bound */
  readonly maxSizeBytes?: number
  /** Called once when the medium failed and only a restart can tell what is on disk. */
  readonly onFatal: (error: Error) => void
}

/**
 * Records in one SQLite file: WAL, `synchronous=FULL`, one writing thread that commits in groups, reads on the calling
 * thread. Several processes may share the file.
 *
 * @throws {Error} when the file cannot be opened, is newer than this program, or refuses the durable settings.
 *
 * @example
 * const records = await openSqliteRecordStore({ file: 'data/lade.db', onFatal: (error) => process.exit(1) })
 * records.traits.engine // 'sqlite'
 */
export async function openSqliteRecordStore(options: SqliteRecordStoreOptions): Promise<RecordStore> {
  const connection = openConnection(options.file)
  try {
    migrate(connection)
  } catch (error) {
    connection.close()
    throw error
  }
  const files = prepareFileReads(connection)
  const blocks = prepareBlockReads(connection)
  const compositions = prepareCompositionReads(connection)
  const accounts = prepareAccountReads(connection)
  const challenges = prepareChallengeReads(connection)
  const quotas = prepareQuotaReads(connection)
  const dataVersion = connection.prepare<[], number>('PRAGMA data_version').pluck()
  const writer = new Writer({ file: options.file, maxSizeBytes: options.maxSizeBytes, onFatal: options.onFatal })

  return {
    traits: { engine: 'sqlite' },
    quotas: {
      reserve: (request) => writer.write('reserve', request),
      claim: (request) => writer.write('claim', request),
      preview: (request) => read(() => quotas.decide(request)),
      async commit(commit) {
        return withFile(commit, await writer.write('commit', ownCommit(commit)))
      },
      async commitAtOnce({ admit, commit }) {
        return withFile(commit, await writer.write('commitAtOnce', { admit, commit: ownCommit(commit) }))
      },
      release: (request) => writer.write('release', request),
      extendLeases: (request) => writer.write('extendLeases', request),
      releaseExpired: (request) => writer.write('releaseExpired', request),
      usage: (request) => read(() => accounts.usage(request)),
      audit: () => read(() => accounts.audit()),
    },
    files: {
      serving: (request) => read(() => files.serving(request)),
      inlineBytes: (object) => read(() => files.inlineBytes(object)),
      latest: (request) => read(() => files.latest(request)),
      bySequence: (sequence) => read(() => files.bySequence(sequence)),
      list: (request) => read(() => files.list(request)),
      listDeals: (request) => read(() => files.listDeals(request)),
      byDeal: (request) => read(() => files.byDeal(request)),
      remove: (request) => writer.write('removeFile', request),
      expire: (request) => writer.write('expireFiles', request),
    },
    content: {
      pieces: (request) => read(() => files.pieces(request)),
    },
    blocks: {
      find: (request) => read(() => blocks.find(request)),
      digests: (request) => read(() => blocks.digests(request)),
      sweep: (request) => writer.write('sweepBlocks', request),
    },
    compositions: {
      find: (request) => read(() => compositions.find(request)),
      commit: (commit) => writer.write('compose', { ...commit, content: ownFacts(commit.content) }),
      partsOf: (object) => read(() => compositions.partsOf(object)),
    },
    tokens: {
      signUp: (request) => writer.write('signUp', request),
      revokedAt: (jti) => read(() => accounts.revokedAt(jti)),
      list: ({ sub }) => read(() => accounts.tokens(sub)),
      revoke: (request) => writer.write('revokeToken', request),
      touch: (uses) => writer.write('touchTokens', uses),
    },
    challenges: {
      open: (request) => writer.write('openChallenge', request),
      withdraw: (request) => writer.write('withdrawChallenge', request),
      find: (request) => read(() => challenges.find(request)),
      answer: (request) => writer.write('answerChallenge', request),
      expire: (request) => writer.write('expireChallenges', request),
    },
    placements: placementRecords(connection, writer),
    offers: offerRecords(connection, writer),
    leases: leaseRecords(writer),
    chain: chainRecords(connection, writer),
    nonces: nonceRecords(writer),
    instances: {
      register: (request) => writer.write('registerInstance', request),
      list: () => read(() => accounts.instances()),
      bury: (request) => writer.write('buryInstance', request),
    },
    discards: {
      pending: ({ instanceId, limit }) => read(() => accounts.pendingDiscards(instanceId, limit)),
      begin: (request) => writer.write('beginDiscard', request),
      finish: (request) => writer.write('finishDiscard', request),
    },
    generation: () => dataVersion.get() ?? 0,
    check: () => read(() => void dataVersion.get()),
    async close() {
      await writer.close()
      closeReader(connection)
    },
  }
}

/** A recorded file is what was committed, with its sequence; only that comes back from the writer. */
function withFile<Other>(commit: FileCommit, reply: Other | RecordedReply): Other | RecordedOutcome {
  if (!isRecorded(reply)) return reply
  const { sequence, usedBytes } = reply
  return { outcome: 'recorded', file: fileFromCommit(commit, sequence), usedBytes }
}

function isRecorded(reply: unknown): reply is RecordedReply {
  return typeof reply === 'object' && reply !== null && 'outcome' in reply && reply.outcome === 'recorded'
}

/** Crossing to the writer copies the whole memory behind a view, so a view into a larger buffer is copied out first. */
function ownCommit<Commit extends FileCommit>(commit: Commit): Commit {
  const inline = commit.inline === undefined ? undefined : ownBytes(commit.inline)
  return { ...commit, inline, content: ownFacts(commit.content) }
}

function ownFacts({ pieceRoot, pieceSubtreeRoots, aliases, dags }: ContentFacts): ContentFacts {
  return { pieceRoot, pieceSubtreeRoots: ownBytes(pieceSubtreeRoots), aliases, dags: dags.map(ownDag) }
}

/** @throws {TypeError} for lists that do not fit together. */
function ownDag(dag: DagCommit): DagCommit {
  if (dag.kind === 'import') {
    if (dag.digests.length % 32 !== 0) throw new TypeError('The digests of an import have 32 bytes each.')
    return { kind: 'import', profile: dag.profile, digests: ownBytes(dag.digests) }
  }
  const { multihashes, multihashEnds, offsetBytes, sizeBytes } = dag
  const count = multihashEnds.length
  const isWholeList = offsetBytes.length === count && sizeBytes.length === count
  if (!isWholeList || (multihashEnds.at(-1) ?? 0) !== multihashes.length) {
    throw new TypeError('The lists of the blocks of a CAR have one entry for each.')
  }
  return {
    kind: 'car',
    multihashes: ownBytes(multihashes),
    multihashEnds: isWhole(multihashEnds) ? multihashEnds : multihashEnds.slice(),
    offsetBytes: isWhole(offsetBytes) ? offsetBytes : offsetBytes.slice(),
    sizeBytes: isWhole(sizeBytes) ? sizeBytes : sizeBytes.slice(),
  }
}

function ownBytes(bytes: Uint8Array): Uint8Array {
  return isWhole(bytes) ? bytes : new Uint8Array(bytes)
}

function isWhole(view: ArrayBufferView): boolean {
  return view.byteLength === view.buffer.byteLength
}

function closeReader(connection: Connection): void {
  if (connection.open) connection.close()
}
