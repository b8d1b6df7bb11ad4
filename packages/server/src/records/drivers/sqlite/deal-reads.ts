import type { AuditRecord, CopyState, DealRecord, ObjectHandle, PlacedStatus } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { preparePieceReads } from './piece-reads.ts'

interface DealRow {
  readonly file: number
  readonly copies_wanted: number
  readonly status: PlacedStatus
  readonly status_at: number
  readonly cause: string | null
}

type AuditRow = Omit<AuditRecord, 'pieceRoot' | 'passed'> & { readonly root: Buffer; readonly passed: number }

interface Counts {
  readonly copies: readonly { readonly prover: string; readonly state: CopyState; readonly count: number }[]
  readonly deals: readonly { readonly status: PlacedStatus; readonly count: number }[]
  readonly waiting: number
}

/** Reads of deals with all that carries them. */
export function prepareDealReads(db: Connection) {
  const pieces = preparePieceReads(db)
  const deal = db.prepare<[number], DealRow>(
    'SELECT file, copies_wanted, status, status_at, cause FROM deals WHERE file = ?',
  )
  const piecesOf = db.prepare<[number], { piece: number; padded_offset_bytes: number | null }>(
    'SELECT piece, padded_offset_bytes FROM deal_pieces WHERE file = ? ORDER BY position',
  )
  const audits = db.prepare<[number, number], AuditRow>(
    `SELECT audits.copy, copies.prover, pieces.piece_root AS root, pieces.size_bytes AS pieceSizeBytes, audits.at,
       audits.seed, audits.passed, audits.cause, audits.proof
     FROM pieces JOIN copies ON copies.piece = pieces.id JOIN audits ON audits.copy = copies.id
     WHERE pieces.id IN (SELECT piece FROM deal_pieces WHERE file = ?) ORDER BY audits.id DESC LIMIT ?`,
  )
  const copyCounts = db.prepare<[], Counts['copies'][number]>(
    'SELECT prover, state, COUNT(*) AS count FROM copies GROUP BY prover, state',
  )
  const dealCounts = db.prepare<[], Counts['deals'][number]>(
    'SELECT status, COUNT(*) AS count FROM deals WHERE closed_at IS NULL GROUP BY status',
  )
  const waitingCount = db
    .prepare<[], number>('SELECT COUNT(*) FROM deals WHERE waits = 1 AND closed_at IS NULL')
    .pluck()

  const aggregateOf = db.prepare<[ObjectHandle], { root: Buffer; sizeBytes: number }>(
    `SELECT pieces.piece_root AS root, pieces.size_bytes AS sizeBytes
     FROM objects JOIN files ON files.object = objects.id JOIN deals ON deals.file = files.sequence
       JOIN deal_pieces ON deal_pieces.file = deals.file JOIN pieces ON pieces.id = deal_pieces.piece
     WHERE objects.sha256 = ? AND deals.closed_at IS NULL AND padded_offset_bytes IS NOT NULL LIMIT 1`,
  )

  function dealOf(file: number): DealRecord[] {
    const row = deal.get(file)
    if (row === undefined) return []
    return [
      {
        file,
        copiesWanted: row.copies_wanted,
        status: row.status,
        statusAt: row.status_at,
        cause: row.cause,
        pieces: piecesOf.all(file).map(({ piece, padded_offset_bytes }) => ({
          ...pieces.pieceOfId(piece),
          paddedOffsetBytes: padded_offset_bytes,
          copies: pieces.copiesOf(piece),
        })),
      },
    ]
  }

  // Several statements see one state of the records, whatever is committed between them.
  const findDeals = db.transaction((files: readonly number[]): DealRecord[] => files.flatMap(dealOf))
  const count = db.transaction(
    (): Counts => ({ copies: copyCounts.all(), deals: dealCounts.all(), waiting: waitingCount.get() ?? 0 }),
  )

  return {
    deals: (files: readonly number[]): readonly DealRecord[] => findDeals(files),

    standings(files: readonly number[]): readonly Pick<DealRecord, 'file' | 'status' | 'statusAt' | 'cause'>[] {
      return files.flatMap((file) => {
        const row = deal.get(file)
        return row === undefined ? [] : [{ file, status: row.status, statusAt: row.status_at, cause: row.cause }]
      })
    },

    aggregatesOf(objects: readonly ObjectHandle[]) {
      return objects.flatMap((object) => {
        const row = aggregateOf.get(object)
        return row === undefined ? [] : [{ object, pieceRoot: row.root.toString('hex'), sizeBytes: row.sizeBytes }]
      })
    },

    audits({ file, limit }: { file: number; limit: number }): readonly AuditRecord[] {
      return audits.all(file, limit).map(({ root, passed, ...audit }) => ({
        ...audit,
        pieceRoot: root.toString('hex'),
        passed: passed === 1,
      }))
    },

    counts: (): Counts => count(),
  }
}
