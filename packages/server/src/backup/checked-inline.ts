import { sha256Hex } from '@lade/node/hashing/sha256'
import type { Cell, Table, TableRow, TableSource } from '../records/table-transfer.ts'

/** The columns that small bytes may be in. */
const INLINE_COLUMNS = ['inline', 'inline_v1']

/** Small bytes that do not have their digest. */
export interface InlineProblem {
  readonly sha256: string
  readonly sizeBytes: number
  /** `good`: the backup had the right bytes, and keeps them. */
  readonly copy: 'good' | 'missing'
}

export interface CheckedInlineDeps {
  readonly source: TableSource
  /** The right bytes of this digest where somebody has them; they are checked here. */
  readonly findGood: (sha256: string) => Uint8Array | undefined
  readonly onProblem: (problem: InlineProblem) => void
}

/** The same records, in which small bytes that do not have their digest are told of and, where the right ones are known, replaced. */
export function withCheckedInline({ source, findGood, onProblem }: CheckedInlineDeps): TableSource {
  return {
    ...source,
    async *batches(table) {
      const check = table.name === 'objects' ? checkOf(table) : undefined
      for await (const rows of source.batches(table)) yield check === undefined ? rows : rows.map(check)
    },
  }

  function checkOf({ columns }: Table): (row: TableRow) => TableRow {
    const at = (name: string): number => columns.findIndex((column) => column.name === name)
    const [digestAt, placeAt] = [at('sha256'), at('place')]
    const bytesAt = INLINE_COLUMNS.map(at).filter((index) => index >= 0)
    return (row) => {
      const sha256 = row[digestAt]
      if (row[placeAt] !== 'inline' || typeof sha256 !== 'string') return row
      const index = bytesAt.find((each) => row[each] !== null) ?? bytesAt[0] ?? -1
      const bytes = bytesIn(row[index])
      if (bytes !== undefined && sha256Hex(bytes) === sha256) return row
      const good = findGood(sha256)
      const isGood = good !== undefined && sha256Hex(good) === sha256
      onProblem({ sha256, sizeBytes: Number(row[at('size_bytes')]), copy: isGood ? 'good' : 'missing' })
      return isGood ? row.with(index, good) : row
    }
  }
}

function bytesIn(cell: Cell | undefined): Uint8Array | undefined {
  return cell instanceof Uint8Array ? cell : undefined
}
