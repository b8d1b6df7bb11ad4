import { pieceHandle } from '../../object-handle.ts'
import type { CompositionCommit, CompositionOutcome, FileRecord } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareContentReads } from './content-reads.ts'
import type { ContentWrites } from './content-writes.ts'
import { prepareDealClosing } from './deal-closing.ts'
import { prepareFileInserts } from './file-inserts.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow } from './file-row.ts'
import type { ObjectRelease } from './object-release.ts'

/** Files that are put together from others. Each function runs inside one transaction that the writer opens. */
export function prepareCompositionWrites(db: Connection, contents: ContentWrites, { releaseObject }: ObjectRelease) {
  const content = prepareContentReads(db)
  const { endAsExpired, insertFile } = prepareFileInserts(db)
  const { closeDeal } = prepareDealClosing(db)
  const bySequence = db.prepare<[number], FileRow>(`SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE sequence = ?`)
  const partsOf = db.prepare<[number], number>('SELECT part FROM parts WHERE whole = ? ORDER BY position').pluck()
  const endAsPart = db.prepare<[number, number, number]>(
    "UPDATE files SET ended_at = ?, end = 'removed', composed_into = ? WHERE sequence = ?",
  )

  function fileOf(sequence: number): FileRecord {
    const row = bySequence.get(sequence)
    if (row === undefined) throw new TypeError(`there is no file ${sequence}`)
    return fileFromRow(row)
  }

  /** The live files of the parts, or which of them are no such any more. */
  function partRows({ parts, file, now }: CompositionCommit): Map<number, FileRow> | { readonly ended: number[] } {
    const rows = new Map<number, FileRow>()
    const ended: number[] = []
    for (const sequence of new Set(parts)) {
      const row = bySequence.get(sequence)
      const isLive = row?.principal === file.principal && row.ended_at === null && row.expires_at > now
      if (row !== undefined && isLive) rows.set(sequence, row)
      else ended.push(sequence)
    }
    return ended.length === 0 ? rows : { ended }
  }

  /** What lies at the bottom: a part that is composed itself counts as all its parts. */
  function objectsOf(parts: readonly number[], rows: ReadonlyMap<number, FileRow>): number[] {
    return parts.flatMap((sequence) => {
      const object = rows.get(sequence)?.object ?? 0
      const inner = partsOf.all(object)
      return inner.length === 0 ? [object] : inner
    })
  }

  return {
    commit(commit: CompositionCommit): CompositionOutcome {
      const { now, day, file, content: facts, parts } = commit
      const bytes = { sha256: file.sha256, pieceRoot: facts.pieceRoot, sizeBytes: file.sizeBytes }
      const known = content.objectOfBytes(bytes)
      const handle = known === undefined ? (file.sha256 ?? pieceHandle(bytes)) : content.handleOf(known)
      const bound = content.boundElsewhere(file.key, handle === undefined ? [] : [handle])
      if (bound !== undefined) return { outcome: 'conflict', object: bound }

      const open = known === undefined ? undefined : content.openFile(file.principal, known, file.key)
      if (open !== undefined && open.expires_at > now) {
        contents.learn(open.object, facts, file.sha256)
        return { outcome: 'retry', file: fileOf(open.sequence) }
      }
      const rows = partRows(commit)
      if ('ended' in rows) return { outcome: 'ended', parts: rows.ended }

      if (open !== undefined) endAsExpired(open.sequence, now)
      const object = contents.putComposed(commit, known, objectsOf(parts, rows))
      const sequence = insertFile(object, file, { day, bytes: 0 })
      for (const part of rows.keys()) {
        endAsPart.run(now, sequence, part)
        closeDeal(part, now)
      }
      for (const part of rows.values()) releaseObject(part.object, now)
      return { outcome: 'recorded', file: fileOf(sequence) }
    },
  }
}
