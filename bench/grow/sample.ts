import type { GrownData } from './grown-data.ts'
import { OFTEN_STAGED, OWNER, type Shape, totalFiles } from './shape.ts'

/** A file that is asked for. */
export interface SampledFile {
  readonly sequence: number
  readonly sha256: string
  readonly dealId: string
  readonly sizeBytes: number
  readonly pieceRoot: string
}

/** What operations ask the records for: rows from all over the data, the same for every operation. */
export interface Sample {
  readonly files: readonly SampledFile[]
  /** Of these, keys of names that verification found. */
  readonly aliases: readonly string[]
  readonly multihashes: readonly Uint8Array[]
  readonly tokens: readonly string[]
  readonly oftenStaged: string
  /** The sequence in the middle of all. */
  readonly middle: number
  /** Before which the owner has this many live files and no more. */
  lastPage(limit: number): Promise<number>
}

const SAMPLED = 1000

/** Takes a sample that is spread evenly over the data. */
export async function sampleOf(data: GrownData, { files, now }: Shape): Promise<Sample> {
  const total = totalFiles({ files })
  // A step that visits every kind of file: it has no divisor in common with those that the shape counts by.
  const step = Math.max(1, Math.floor(total / 2 / SAMPLED / 10) * 10 - 3)
  // Not from the beginning, where the terms end first, nor from the end, which is not enrolled.
  const sequences = Array.from({ length: SAMPLED }, (_, index) => Math.floor(total * 0.4) + index * step)
  const rows = await data.query(
    `SELECT sequence, sha256, deal_id, size_bytes, piece_root FROM files JOIN objects ON objects.id = files.object
     WHERE sequence IN (${sequences.join()}) AND principal = '${OWNER}' AND ended_at IS NULL AND visibility = 'public' AND name = ''
       AND object = sequence`,
  )
  const sampled = rows.map((row: Record<string, never>) => ({
    sequence: Number(row.sequence),
    sha256: String(row.sha256),
    dealId: String(row.deal_id),
    sizeBytes: Number(row.size_bytes),
    pieceRoot: Buffer.from(row.piece_root ?? '').toString('hex'),
  }))
  const objects = sampled.map(({ sequence }) => sequence).join()
  const column = async (sql: string): Promise<never[]> =>
    (await data.query(sql)).map((row) => Object.values(row)[0] as never)
  // Aliases have no index by object: their keys are taken from all over the index of keys.
  const aliases: string[] = []
  for (let at = 0; at < SAMPLED / 2; at += 1) {
    const from = ((at * 7919) % 65_536).toString(16).padStart(4, '0')
    const [key] = await column(
      `SELECT key FROM aliases CROSS JOIN files WHERE files.object = aliases.object AND key > 'dag-pb:${from}' AND ended_at IS NULL AND visibility = 'public' ORDER BY key LIMIT 1`,
    )
    if (key !== undefined) aliases.push(key)
  }
  const [oftenStaged = '' as never] = await column(`SELECT sha256 FROM objects WHERE id = ${OFTEN_STAGED}`)
  return {
    files: sampled,
    aliases,
    multihashes: (
      await column(
        `SELECT multihash FROM blocks WHERE dag IN (SELECT id FROM dags WHERE object IN (${objects})) LIMIT ${SAMPLED}`,
      )
    ).map((bytes: Uint8Array) => Uint8Array.from(bytes)),
    tokens: await column(`SELECT jti FROM tokens ORDER BY jti LIMIT ${SAMPLED}`),
    oftenStaged,
    middle: Math.floor(total / 2),
    async lastPage(limit) {
      const [sequence] = await column(
        `SELECT sequence FROM files WHERE principal = '${OWNER}' AND ended_at IS NULL AND expires_at > ${now} ORDER BY sequence LIMIT 1 OFFSET ${limit - 1}`,
      )
      return Number(sequence) + 1
    },
  }
}
