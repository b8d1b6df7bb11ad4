import type { PlacementRecords } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareCopyReads } from './copy-reads.ts'
import { prepareDealReads } from './deal-reads.ts'
import { preparePieceReads } from './piece-reads.ts'
import { preparePlacementReads } from './placement-reads.ts'
import { read } from './read.ts'
import type { Writer } from './writer.ts'

/** What is placed with which prover. */
export function placementRecords(connection: Connection, writer: Writer): PlacementRecords {
  const placements = preparePlacementReads(connection)
  const pieces = preparePieceReads(connection)
  const copies = prepareCopyReads(connection)
  const deals = prepareDealReads(connection)

  return {
    unenrolled: (request) => read(() => placements.unenrolled(request)),
    enrolledUpTo: () => read(() => placements.enrolledUpTo()),
    enrol: (request) => writer.write('enrolFiles', request),
    waiting: (request) => read(() => placements.waiting(request)),
    aggregate: (request) => writer.write('aggregateFiles', request),
    membersOf: (piece) => read(() => pieces.membersOf(piece)),
    dissolve: (request) => writer.write('dissolveAggregate', request),
    unsettled: (request) => read(() => placements.unsettled(request)),
    settle: (request) => writer.write('settlePiece', request),
    unsettleAll: (request) => writer.write('unsettlePieces', request),
    due: (request) => read(() => copies.due(request)),
    parked: (request) => writer.write('copyParked', request),
    retryLater: (request) => writer.write('copyLater', request),
    fail: (request) => writer.write('failCopy', request),
    openAddition: (request) => writer.write('openAddition', request),
    additions: () => read(() => copies.additions()),
    additionSent: (request) => writer.write('additionSent', request),
    additionLater: (request) => writer.write('additionLater', request),
    additionConfirmed: (request) => writer.write('additionConfirmed', request),
    additionRejected: (request) => writer.write('additionRejected', request),
    dataSetOf: (prover) => read(() => copies.dataSetOf(prover)),
    removable: (request) => read(() => copies.removable(request)),
    removed: (request) => writer.write('copyRemoved', request),
    audited: (request) => writer.write('copyAudited', request),
    audits: (request) => read(() => deals.audits(request)),
    standings: (files) => read(() => deals.standings(files)),
    aggregatesOf: (objects) => read(() => deals.aggregatesOf(objects)),
    deals: (files) => read(() => deals.deals(files)),
    recorded: (request) => read(() => pieces.recorded(request)),
    pieceOf: (request) => read(() => pieces.pieceOf(request)),
    want: (request) => writer.write('wantCopies', request),
    extend: (request) => writer.write('extendFile', request),
    counts: () => read(() => deals.counts()),
  }
}
