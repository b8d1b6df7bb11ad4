import { decideQuota } from '../../quota-rule/decide-quota.ts'
import { pieceHandle } from '../object-handle.ts'
import type { CompositionCommit, CompositionOutcome, FileRecord } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import type { ContentWrites } from './content-writes.ts'
import { prepareDealClosing } from './deal-closing.ts'
import { prepareFileInserts } from './file-inserts.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, fileFromRow } from './file-row.ts'
import type { ObjectRelease } from './object-release.ts'
import { prepareQuotaReads } from './quota-reads.ts'
import { forEach, type Sql, type Steps } from './sql.ts'
import { prepareTakedownReads } from './takedown-reads.ts'
import { prepareUsageWrites } from './usage-writes.ts'

/** Files that are put together from others. Each function runs inside the caller's transaction. */
export function prepareCompositionWrites(db: Sql, contents: ContentWrites, { releaseObject }: ObjectRelease) {
  const content = prepareContentReads(db)
  const { capsOf, stateFor } = prepareQuotaReads(db)
  const takedowns = prepareTakedownReads(db)
  const { endAsExpired, insertFile } = prepareFileInserts(db)
  const { closeDeal } = prepareDealClosing(db)
  const { fileEnded } = prepareUsageWrites(db)
  const bySequence = db.prepare<[number], FileRow>(`SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE sequence = ?`)
  const partsOf = db.prepare<[number], number>('SELECT part FROM parts WHERE whole = ? ORDER BY position').pluck()
  const endAsPart = db.prepare<[number, number, number]>(
    `UPDATE files SET ended_at = ?, "end" = 'removed', composed_into = ? WHERE sequence = ?`,
  )

  function* fileOf(sequence: number): Steps<FileRecord> {
    const row = yield* bySequence.get(sequence)
    if (row === undefined) throw new TypeError(`there is no file ${sequence}`)
    return fileFromRow(row)
  }

  /** The live files of the parts, or which of them are no such any more. */
  function* partRows({
    parts,
    file,
    now,
  }: CompositionCommit): Steps<Map<number, FileRow> | { readonly ended: number[] }> {
    const rows = new Map<number, FileRow>()
    const ended: number[] = []
    for (const sequence of new Set(parts)) {
      const row = yield* bySequence.get(sequence)
      const isLive = row?.principal === file.principal && row.ended_at === null && row.expires_at > now
      if (row !== undefined && isLive) rows.set(sequence, row)
      else ended.push(sequence)
    }
    return ended.length === 0 ? rows : { ended }
  }

  /** What lies at the bottom: a part that is composed itself counts as all its parts. */
  function* objectsOf(parts: readonly number[], rows: ReadonlyMap<number, FileRow>): Steps<number[]> {
    const objects = new Map<number, readonly number[]>()
    for (const { sequence, object } of rows.values()) {
      const inner = yield* partsOf.all(object)
      objects.set(sequence, inner.length === 0 ? [object] : inner)
    }
    return parts.flatMap((sequence) => objects.get(sequence) ?? [])
  }

  return {
    *commit(commit: CompositionCommit): Steps<CompositionOutcome> {
      const { now, day, token, file, content: facts, parts } = commit
      if (yield* takedowns.haveChanged(commit)) return { outcome: 'takedowns_changed' }
      const bytes = { sha256: file.sha256, pieceRoot: facts.pieceRoot, sizeBytes: file.sizeBytes }
      const known = yield* content.objectOfBytes(bytes)
      const handle = known === undefined ? (file.sha256 ?? pieceHandle(bytes)) : yield* content.handleOf(known)
      const bound = yield* content.boundElsewhere(file.key, handle === undefined ? [] : [handle])
      if (bound !== undefined) return { outcome: 'conflict', object: bound }

      const open = known === undefined ? undefined : yield* content.openFile(file.principal, known, file.key)
      if (open !== undefined && open.expires_at > now) {
        yield* contents.learn(open.object, facts, file.sha256)
        return { outcome: 'retry', file: yield* fileOf(open.sequence) }
      }
      const rows = yield* partRows(commit)
      if ('ended' in rows) return { outcome: 'ended', parts: rows.ended }
      const chargedBytes = repeatedBytes(parts, rows)
      const { principal } = file
      const asked = { bytes: chargedBytes, files: 1 }
      const caps = yield* capsOf({ ...commit, principal })
      const state = yield* stateFor({ principal, day, token, ...caps }, caps, { asked, now })
      const decision = decideQuota(state, { ...caps, asked })
      if (decision.outcome === 'over_quota') return decision

      if (open !== undefined) yield* endAsExpired(open, now)
      const object = yield* contents.putComposed(commit, known, yield* objectsOf(parts, rows))
      const filed = { object, isNew: known === undefined }
      const sequence = yield* insertFile(filed, file, { day, bytes: chargedBytes, token: token?.id }, commit.folder)
      for (const part of rows.values()) {
        yield* endAsPart.run(now, sequence, part.sequence)
        yield* fileEnded(part)
        yield* closeDeal(part.sequence, now)
      }
      yield* forEach(rows.values(), (part) => releaseObject(part.object, now))
      return { outcome: 'recorded', file: yield* fileOf(sequence) }
    },
  }
}

/** What a composition adds to its parts: all of a part that is named n times has been charged once. */
function repeatedBytes(parts: readonly number[], rows: ReadonlyMap<number, FileRow>): number {
  const sumOf = (sequences: Iterable<number>): number => {
    let bytes = 0
    for (const sequence of sequences) bytes += rows.get(sequence)?.size_bytes ?? 0
    return bytes
  }
  return sumOf(parts) - sumOf(rows.keys())
}
