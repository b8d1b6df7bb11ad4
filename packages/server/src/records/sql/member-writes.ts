import type { FileCommit, FolderCommit, FolderFacts, UnusableMembers } from '../record-store.ts'
import { AT_ONCE, batchesOf, MANY, manyTimes, prepareForMany } from './many.ts'
import { prepareMemberReads } from './member-reads.ts'
import type { Sql, SqlValue, Steps } from './sql.ts'
import { prepareUsageWrites } from './usage-writes.ts'

/** What a folder is charged and stored for, beside its own object. */
export interface AgreedFolder {
  readonly stored: FolderFacts
  /** The numbers of its members, and how often each is used. */
  readonly members: readonly (readonly [object: number, uses: number])[]
  /** Of members that the principal has not got. */
  readonly chargedBytes: number
  /** The files that were sent for it. */
  readonly taken: readonly TakenFile[]
  /** Stored for these files until now. */
  readonly takenBytes: number
}

interface TakenFile {
  readonly sequence: number
  readonly bytes: number
  readonly charged_day: string
}

const NO_NUMBER = 0

/** What folders have in them. Each function runs inside the caller's transaction. */
export function prepareMemberWrites(db: Sql) {
  const { heldByHandle } = prepareMemberReads(db)
  const { filesEnded } = prepareUsageWrites(db)
  const anyMember = db.prepare<[number], number>('SELECT 1 FROM members WHERE folder = ? LIMIT 1').pluck()
  const insertOne = db.prepare<number[]>('INSERT INTO members (folder, object, uses) VALUES (?, ?, ?)')
  const insertMany = db.prepare<number[]>(`INSERT INTO members (folder, object, uses) VALUES ${manyTimes('(?, ?, ?)')}`)
  const filesOf = db.prepare<SqlValue[], TakenFile>(
    `SELECT sequence, size_bytes AS bytes, charged_day FROM files JOIN objects ON objects.id = files.object
     WHERE principal = ? AND files.name = '' AND ended_at IS NULL AND expires_at > ? AND folder_files IS NULL AND files.object IN (${MANY})`,
  )
  const endAsTaken = db.prepare<number[]>(
    `UPDATE files SET ended_at = ?, "end" = 'removed', composed_into = ? WHERE sequence IN (${MANY})`,
  )
  const enrolAgain = db.prepare<number[]>(
    `INSERT INTO reenrolments (file) SELECT sequence FROM files WHERE sequence IN (${MANY}) ON CONFLICT DO NOTHING`,
  )
  const closedFolders = prepareForMany<number, { readonly id: number }>(
    db,
    NO_NUMBER,
    (folders) =>
      `SELECT id FROM objects WHERE (SELECT 1 FROM members WHERE folder = objects.id LIMIT 1) IS NOT NULL
         AND (SELECT 1 FROM files ${db.dialect.indexedBy('files_live_by_object')}
           WHERE files.object = objects.id AND ended_at IS NULL AND folder_files IS NOT NULL LIMIT 1) IS NULL
         AND (SELECT due_at FROM ended_objects WHERE ended_objects.object = objects.id AND due_at > ?) IS NULL
         AND id IN (${folders})`,
  )
  const letGo = prepareForMany<number>(
    db,
    NO_NUMBER,
    (folders) =>
      `INSERT INTO ended_objects (object, due_at) SELECT object, ${db.dialect.whole('?')} FROM members WHERE folder IN (${folders})
       ON CONFLICT (object) DO NOTHING`,
  )
  const deleteMembers = prepareForMany<number>(
    db,
    NO_NUMBER,
    (folders) => `DELETE FROM members WHERE folder IN (${folders})`,
  )

  const setCounted = db.prepare<[{ file: number; files: number; bytes: number }]>(
    'UPDATE files SET folder_files = :files, folder_bytes = :bytes WHERE sequence = :file AND folder_files IS NULL',
  )

  function* takenOf(folder: FolderCommit, file: FileCommit['file'], now: number, idOf: Map<string, { id: number }>) {
    const objects = folder.taken.flatMap((handle) => idOf.get(handle)?.id ?? [])
    const taken: TakenFile[] = []
    for (const batch of batchesOf(objects, NO_NUMBER))
      taken.push(...(yield* filesOf.all(file.principal, now, ...batch)))
    return taken
  }

  return {
    /** Decides whether a folder can have its members, as they are now. */
    *agree({
      folder,
      file,
      now,
    }: FileCommit & { readonly folder: FolderCommit }): Steps<AgreedFolder | UnusableMembers> {
      const { principal, visibility } = file
      const held = yield* heldByHandle(
        folder.members.map(({ object }) => object),
        principal,
        now,
      )
      const unusable = { gone: [] as string[], private: [] as string[] }
      const members: [number, number][] = []
      let [memberBytes, chargedBytes] = [0, 0]
      for (const { object, uses } of folder.members) {
        const row = held.get(object)
        if (row === undefined || row.is_own + row.is_public === 0) unusable.gone.push(object)
        else if (visibility === 'public' && row.is_public === 0) unusable.private.push(object)
        else {
          members.push([row.id, uses])
          memberBytes += row.size_bytes
          if (row.is_own === 0) chargedBytes += row.size_bytes
        }
      }
      if (unusable.gone.length + unusable.private.length > 0) return { outcome: 'unusable_members', ...unusable }
      const taken = yield* takenOf(folder, file, now, held)
      const { files, bytes } = folder
      const takenBytes = taken.reduce((sum, { bytes: own }) => sum + own, 0)
      return { stored: { files, bytes, memberBytes }, members, chargedBytes, taken, takenBytes }
    },

    /** Keeps the members of a folder, unless they are kept for it already. */
    *keepMembers(folder: number, { members }: AgreedFolder): Steps<void> {
      if ((yield* anyMember.get(folder)) !== undefined) return
      const rows = members.map(([object, uses]) => [folder, object, uses])
      const inFull = rows.length - (rows.length % AT_ONCE)
      for (let at = 0; at < inFull; at += AT_ONCE) yield* insertMany.run(...rows.slice(at, at + AT_ONCE).flat())
      for (const row of rows.slice(inFull)) yield* insertOne.run(...row)
    },

    /** Ends the files that were sent for the folder of this sequence. */
    *endTaken({ taken }: AgreedFolder, into: number, principal: string, now: number): Steps<void> {
      for (const batch of batchesOf(
        taken.map(({ sequence }) => sequence),
        NO_NUMBER,
      )) {
        yield* endAsTaken.run(now, into, ...batch)
        // Their deals are closed by the job that places files: whoever closes thousands here would meet it all the time.
        yield* enrolAgain.run(...batch)
      }
      yield* filesEnded(taken.map(({ bytes, charged_day: day }) => ({ principal, day, bytes })))
    },

    *setCounted(request: { file: number; files: number; bytes: number }): Steps<void> {
      yield* setCounted.run(request)
    },

    /** Lets go of the members of folders that are to stay no longer and that no open file is any more; their bytes go a little later. */
    *releaseMembers(objects: readonly number[], now: number): Steps<void> {
      const folders = (yield* closedFolders.all(objects, now)).map(({ id }) => id)
      yield* letGo.run(folders, now)
      yield* deleteMembers.run(folders)
    },
  }
}
