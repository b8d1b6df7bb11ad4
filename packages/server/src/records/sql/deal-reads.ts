import type { CopyState, DealRecord, ObjectHandle, PlacedStatus } from '../record-store.ts'
import { prepareCopyAudits } from './copy-audits.ts'
import { preparePieceReads } from './piece-reads.ts'
import { mapEach, type Sql, type Steps } from './sql.ts'

interface DealRow {
  readonly file: number
  readonly copies_wanted: number
  readonly status: PlacedStatus
  readonly status_at: number
  readonly cause: string | null
  readonly onchain_deal_id: string | null
}

interface DealPieceRow {
  readonly piece: number
  readonly padded_offset_bytes: number | null
}

/** Where a deal stands, without what carries it. */
type StatusOfDeal = Pick<DealRecord, 'file' | 'status' | 'statusAt' | 'cause' | 'onchainDealId'>

/** The aggregate that a small file is in. */
interface FoundAggregate {
  readonly object: ObjectHandle
  readonly pieceRoot: string
  readonly sizeBytes: number
}

interface Counts {
  readonly copies: readonly { readonly prover: string; readonly state: CopyState; readonly count: number }[]
  readonly deals: readonly { readonly status: PlacedStatus; readonly count: number }[]
  readonly waiting: number
}

/** Deals that one statement asks for. */
const DEALS_AT_ONCE = 100
const PLACEHOLDERS = Array.from({ length: DEALS_AT_ONCE }, () => '?').join(', ')
const NO_FILE = 0

/** An aggregate's deal on the chain is not that of its files. The first that was confirmed keeps being the one. */
const DEAL_COLUMNS = `file, copies_wanted, status, status_at, cause, (
  SELECT onchain_deals.onchain_id FROM deal_pieces
  JOIN copies ON copies.piece = deal_pieces.piece JOIN onchain_deals ON onchain_deals.copy = copies.id
  WHERE deal_pieces.file = deals.file AND deal_pieces.padded_offset_bytes IS NULL AND deal_pieces.car_copies IS NULL
    AND onchain_deals.onchain_id IS NOT NULL AND onchain_deals.state IN ('confirmed', 'final')
  ORDER BY onchain_deals.copy LIMIT 1) AS onchain_deal_id`

/** As many numbers as there are placeholders. */
function filledUp(files: readonly number[]): number[] {
  return [...files, ...Array.from({ length: DEALS_AT_ONCE - files.length }, () => NO_FILE)]
}

/** Reads of deals with all that carries them. */
export function prepareDealReads(db: Sql) {
  const pieces = preparePieceReads(db)
  const audits = prepareCopyAudits(db)
  const deal = db.prepare<[number], DealRow>(`SELECT ${DEAL_COLUMNS} FROM deals WHERE file = ?`)
  // So many at once, since an engine behind a network would be asked for each of them.
  const someDeals = db.prepare<number[], DealRow>(`SELECT ${DEAL_COLUMNS} FROM deals WHERE file IN (${PLACEHOLDERS})`)
  const piecesOf = db.prepare<[number], DealPieceRow>(
    'SELECT piece, padded_offset_bytes FROM deal_pieces WHERE file = ? AND car_copies IS NULL ORDER BY position',
  )
  const carOf = db.prepare<[number], { readonly piece: number; readonly root: string | null }>(
    `SELECT piece, car_root AS root FROM deal_pieces JOIN pieces ON pieces.id = piece
     WHERE file = ? AND car_copies IS NOT NULL LIMIT 1`,
  )
  const copyCounts = db.prepare<[], Counts['copies'][number]>(
    `SELECT prover, state, SUM(count) AS count FROM copy_counts GROUP BY prover, state HAVING SUM(count) > 0
     ORDER BY prover, state`,
  )
  const dealCounts = db.prepare<[], Counts['deals'][number]>(
    'SELECT status, SUM(count) AS count FROM deal_counts GROUP BY status HAVING SUM(count) > 0 ORDER BY status',
  )
  const waitingCount = db.prepare<[], number | null>('SELECT SUM(count) FROM deal_counts WHERE waits = 1').pluck()

  const aggregateOf = db.prepare<[ObjectHandle], { root: Buffer; sizeBytes: number }>(
    `SELECT pieces.piece_root AS root, pieces.size_bytes AS "sizeBytes"
     FROM objects JOIN files ON files.object = objects.id JOIN deals ON deals.file = files.sequence
       JOIN deal_pieces ON deal_pieces.file = deals.file JOIN pieces ON pieces.id = deal_pieces.piece
     WHERE objects.sha256 = ? AND deals.closed_at IS NULL AND padded_offset_bytes IS NOT NULL LIMIT 1`,
  )

  function* pieceFromRow({ piece, padded_offset_bytes }: DealPieceRow): Steps<DealRecord['pieces'][number]> {
    return {
      ...(yield* pieces.pieceOfId(piece)),
      paddedOffsetBytes: padded_offset_bytes,
      copies: yield* pieces.copiesOf(piece),
    }
  }

  function* carOfFile(file: number): Steps<DealRecord['car']> {
    const row = yield* carOf.get(file)
    if (row === undefined) return null
    const piece = yield* pieces.pieceOfId(row.piece)
    return { ...piece, rootCid: row.root ?? '', copies: yield* pieces.copiesOf(row.piece) }
  }

  return {
    /** Needs one state of the records for all its statements. */
    *deals(files: readonly number[]): Steps<readonly DealRecord[]> {
      const found: DealRecord[] = []
      for (const file of files) {
        const row = yield* deal.get(file)
        if (row === undefined) continue
        const ofDeal = yield* mapEach(yield* piecesOf.all(file), pieceFromRow)
        const car = yield* carOfFile(file)
        found.push({ ...statusFromRow(row), copiesWanted: row.copies_wanted, car, pieces: ofDeal })
      }
      return found
    },

    *statuses(files: readonly number[]): Steps<readonly StatusOfDeal[]> {
      const found = new Map<number, StatusOfDeal>()
      for (let from = 0; from < files.length; from += DEALS_AT_ONCE) {
        const asked = files.slice(from, from + DEALS_AT_ONCE)
        const rows = asked.length === 1 ? deal.all(...(asked as [number])) : someDeals.all(...filledUp(asked))
        for (const row of yield* rows) found.set(row.file, statusFromRow(row))
      }
      return files.flatMap((file) => found.get(file) ?? [])
    },

    *aggregatesOf(objects: readonly ObjectHandle[]): Steps<readonly FoundAggregate[]> {
      const found: FoundAggregate[] = []
      for (const object of objects) {
        const row = yield* aggregateOf.get(object)
        if (row !== undefined) found.push({ object, pieceRoot: row.root.toString('hex'), sizeBytes: row.sizeBytes })
      }
      return found
    },

    audits: audits.ofFile,

    /** Needs one state of the records for all its statements. */
    *counts(): Steps<Counts> {
      return {
        copies: yield* copyCounts.all(),
        deals: yield* dealCounts.all(),
        waiting: (yield* waitingCount.get()) ?? 0,
      }
    },
  }
}

function statusFromRow(row: DealRow): StatusOfDeal {
  const { file, status, status_at: statusAt, cause, onchain_deal_id: onchainDealId } = row
  return { file, status, statusAt, cause, onchainDealId }
}
