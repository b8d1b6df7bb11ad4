import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { blockedNameOf } from '../blocked-name.ts'
import type { CommitOutcome, FileRecord, FolderMember, RecordStore } from '../record-store.ts'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  DAY,
  digestOf,
  fileCommitOf,
  HOUR,
  NOW,
  pending,
  pieceRootOf,
  reserve,
  served,
  stage,
  times,
  type Upload,
  upload,
  WEEK,
} from './case.ts'

/** The root of what {@link folderOf} makes. */
export const FOLDER_ROOT = `dag-pb:${digestOf('root of folder')}`
/** Of the directories of a folder. */
const FOLDER_BYTES = 10
const FILE_BYTES = 100

interface Folder extends Partial<Upload> {
  readonly members: readonly string[]
  readonly taken?: readonly string[]
}

/** Makes a folder of words that are staged. Its own object is a CAR of its directories. */
async function makeFolder(store: RecordStore, { members, taken = [], ...overrides }: Folder): Promise<CommitOutcome> {
  const of = upload({
    content: 'folder',
    key: FOLDER_ROOT,
    sizeBytes: FOLDER_BYTES,
    capBytes: 1_000_000,
    facts: { aliases: [{ key: FOLDER_ROOT, view: 'car' }] },
    inline: new Uint8Array(FOLDER_BYTES),
    ...overrides,
  })
  const reservationId = await reserve(store, of)
  const outcome = await store.quotas.commit({
    reservationId,
    ...fileCommitOf(of, `d-0x${randomUUID()}`),
    folder: {
      files: members.length,
      bytes: members.length * FILE_BYTES,
      memberBytes: members.length * FILE_BYTES,
      members: members.map((word): FolderMember => ({ object: digestOf(word), uses: 1 })),
      taken: taken.map(digestOf),
    },
  })
  if (outcome.outcome !== 'recorded') await store.quotas.release({ reservationId, now: of.now })
  return outcome
}

/** A folder of words, which is recorded. */
export async function folderOf(store: RecordStore, folder: Folder): Promise<FileRecord> {
  const outcome = await makeFolder(store, folder)
  if (outcome.outcome !== 'recorded') throw new Error(`The folder ended as ${outcome.outcome}.`)
  return outcome.file
}

const stageWords = async (store: RecordStore, words: readonly string[], overrides: Partial<Upload> = {}) => {
  for (const content of words) await stage(store, upload({ content, capBytes: 1_000_000, ...overrides }))
}
const remove = (store: RecordStore, key: string, principal = ALICE) => store.files.remove({ principal, key, now: NOW })
const keyOf = (word: string) => `sha256:${digestOf(word)}`
/** Lets go of what was let go of, as upkeep does. */
const release = (store: RecordStore, now = NOW) => store.files.releaseEnded({ now, limit: 100_000 })

/** Has the deals closed of files that were sent for a folder, as the job that places files does. */
async function closeTaken(store: RecordStore): Promise<void> {
  const taken = await store.files.list({ principal: ALICE, now: NOW, limit: 1000, ended: 'composed' })
  const enrolments = taken.map(({ sequence: file }) => ({ file, copiesWanted: 1, as: { kind: 'keep' } as const }))
  await store.placements.enrol({ now: NOW, upTo: 0, enrolments })
}

export function folderCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  it('records a folder of own files, which stay files, for its own bytes', async (store) => {
    await stageWords(store, ['a', 'b'])
    const file = await folderOf(store, { members: ['a', 'b'] })
    expect(file.folder).toEqual({ files: 2, bytes: 200, memberBytes: 200 })
    expect(await store.files.bySequence(file.sequence)).toEqual(file)
    expect(await account(store)).toEqual({ charged: 210, reserved: 0, stored: 200 + 210 })
    const live = await store.files.list({ principal: ALICE, now: NOW, limit: 10, ended: 'live' })
    expect(live.map(({ cid }) => cid)).toEqual(['cid-of-folder', 'cid-of-b', 'cid-of-a'])
    expect(await store.folders.membersOf(file.object)).toEqual([
      { object: digestOf('a'), uses: 1, sizeBytes: FILE_BYTES },
      { object: digestOf('b'), uses: 1, sizeBytes: FILE_BYTES },
    ])
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('ends the files that were sent for it, which are served as long as it', async (store) => {
    await stageWords(store, ['a', 'b'])
    const file = await folderOf(store, { members: ['a', 'b'], taken: ['a'] })
    expect(await account(store)).toEqual({ charged: 210, reserved: 0, stored: 310 })
    expect(await served(store, keyOf('a'))).toBe('folder as bytes')
    expect(await store.files.serving({ key: keyOf('a'), now: NOW })).toMatchObject({
      file: { object: digestOf('a'), sizeBytes: FILE_BYTES, sha256: digestOf('a'), sequence: file.sequence },
    })
    const composed = await store.files.list({ principal: ALICE, now: NOW, limit: 10, ended: 'composed' })
    expect(composed.map(({ cid }) => cid)).toEqual(['cid-of-a'])
    expect(await remove(store, keyOf('a'))).toBeUndefined()
    expect(await store.files.publicUntil({ object: digestOf('a'), now: NOW })).toBe(NOW + WEEK)
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('keeps the bytes of its files until the last folder or file is gone', async (store) => {
    await stageWords(store, ['a', 'b'])
    await folderOf(store, { members: ['a', 'b'], taken: ['a'] })
    await remove(store, keyOf('b'))
    expect(await served(store, keyOf('b'))).toBe('folder as bytes')
    await release(store)
    expect(await pending(store)).toEqual([])
    await remove(store, FOLDER_ROOT)
    expect(await served(store, keyOf('a'))).not.toContain('folder')
    await release(store)
    expect((await pending(store)).toSorted()).toEqual(['a', 'b'].map(digestOf).sort())
    expect(await account(store)).toEqual({ charged: 210, reserved: 0, stored: 0 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('keeps a file that is a file as well', async (store) => {
    await stageWords(store, ['a', 'b'])
    await folderOf(store, { members: ['a', 'b'], taken: ['a'] })
    await remove(store, FOLDER_ROOT)
    await release(store)
    expect(await pending(store)).toEqual([digestOf('a')])
    expect(await served(store, keyOf('b'))).toBe('b as bytes')
    expect(await account(store)).toEqual({ charged: 210, reserved: 0, stored: 100 })
  })

  it('shares its members with folders of others, for as long as one is live', async (store) => {
    await stageWords(store, ['a'])
    await folderOf(store, { members: ['a'], taken: ['a'] })
    const other = await folderOf(store, { members: ['a'], principal: BOB })
    expect(other.folder?.memberBytes).toBe(100)
    expect(await account(store, BOB)).toEqual({ charged: 110, reserved: 0, stored: 110 })
    await remove(store, FOLDER_ROOT)
    await release(store)
    expect(await served(store, keyOf('a'))).toBe('folder as bytes')
    await remove(store, FOLDER_ROOT, BOB)
    await release(store)
    expect(await pending(store)).toEqual([digestOf('a')])
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('charges public files of others as if they were sent, exactly up to the cap', async (store) => {
    await stageWords(store, ['a', 'b'], { principal: BOB })
    await stageWords(store, ['c'])
    const members = ['a', 'b', 'c']
    const refused = await makeFolder(store, { members, capBytes: 309 })
    expect(refused).toMatchObject({ outcome: 'over_quota', over: { unit: 'bytes', limit: 309 } })
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
    expect(await makeFolder(store, { members, capBytes: 310 })).toMatchObject({ outcome: 'recorded', usedBytes: 310 })
    expect(await account(store)).toEqual({ charged: 310, reserved: 0, stored: 100 + 310 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('counts all its files as stored, and the room of those that were sent for it once', async (store) => {
    await stageWords(store, ['a', 'b'])
    const members = ['a', 'b']
    const kept = await makeFolder(store, { members, capStoredBytes: 409 })
    expect(kept).toMatchObject({ outcome: 'over_quota', over: { which: 'stored', used: 200, limit: 409 } })
    expect(await makeFolder(store, { members, taken: ['a'], capStoredBytes: 309 })).toMatchObject({
      outcome: 'over_quota',
    })
    expect(await makeFolder(store, { members, taken: members, capStoredBytes: 210 })).toMatchObject({
      outcome: 'recorded',
    })
    expect(await account(store)).toEqual({ charged: 210, reserved: 0, stored: 210 })
  })

  it('does not charge again what is in another folder of the caller', async (store) => {
    await stageWords(store, ['a'])
    await folderOf(store, { members: ['a'], taken: ['a'] })
    await folderOf(store, { members: ['a'], content: 'second', key: `dag-pb:${digestOf('second root')}`, facts: {} })
    expect(await account(store)).toEqual({ charged: 120, reserved: 0, stored: 220 })
    await remove(store, FOLDER_ROOT)
    await release(store)
    expect(await served(store, keyOf('a'))).toBe('second as bytes')
  })

  it('records nothing with a file that is not there, or private to others', async (store) => {
    await stageWords(store, ['secret'], { principal: BOB, visibility: 'private' })
    await stageWords(store, ['a'])
    for (const member of ['secret', 'never staged']) {
      expect(await makeFolder(store, { members: ['a', member], taken: ['a'] })).toEqual({
        outcome: 'unusable_members',
        gone: [digestOf(member)],
        private: [],
      })
    }
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
    expect(await served(store, keyOf('a'))).toBe('a as bytes')
  })

  it('has private files only in a private folder, which serves its owner alone', async (store) => {
    await stageWords(store, ['secret'], { visibility: 'private' })
    expect(await makeFolder(store, { members: ['secret'] })).toEqual({
      outcome: 'unusable_members',
      gone: [],
      private: [digestOf('secret')],
    })
    const folder = await folderOf(store, { members: ['secret'], taken: ['secret'], visibility: 'private' })
    expect(await served(store, keyOf('secret'))).not.toContain('folder')
    expect(await served(store, keyOf('secret'), ALICE)).toBe('folder as bytes')
    expect(await served(store, keyOf('secret'), BOB)).not.toContain('folder')
    const multihash = Buffer.from(`1220${digestOf('secret')}`, 'hex')
    const find = (hasMembers: boolean) => store.blocks.find({ multihash, now: NOW, within: folder.object, hasMembers })
    expect(await store.blocks.find({ multihash, now: NOW })).toBeUndefined()
    expect(await find(false)).toBeUndefined()
    expect(await find(true)).toEqual({ kind: 'object', object: digestOf('secret'), sizeBytes: FILE_BYTES })
  })

  it('shows no member to who has its object as a plain file', async (store) => {
    await stageWords(store, ['secret'], { visibility: 'private' })
    const folder = await folderOf(store, { members: ['secret'], taken: ['secret'], visibility: 'private' })
    await stage(store, upload({ content: 'folder', principal: BOB, inline: new Uint8Array(FOLDER_BYTES) }))
    expect(await served(store, keyOf('secret'), BOB)).not.toContain('folder')
    expect(await served(store, keyOf('secret'))).not.toContain('folder')
    await remove(store, FOLDER_ROOT)
    await release(store)
    expect(await store.folders.membersOf(folder.object)).toEqual([])
    expect(await pending(store)).toEqual([digestOf('secret')])
  })

  it('follows the visibility and the term of its folder', async (store) => {
    await stageWords(store, ['a'])
    const folder = await folderOf(store, { members: ['a'], taken: ['a'] })
    const change = { file: folder.sequence, now: NOW, maxTermDays: 30 }
    await store.files.change({ ...change, visibility: 'private' })
    expect(await served(store, keyOf('a'))).not.toContain('folder')
    await store.files.change({ ...change, visibility: 'public' })
    expect(await served(store, keyOf('a'))).toBe('folder as bytes')
    const after = NOW + WEEK + HOUR
    expect(await store.files.serving({ key: keyOf('a'), now: after })).toMatchObject({ outcome: 'gone' })
    await store.files.expire({ now: after, limit: 10, keepMs: HOUR })
    await release(store, after)
    expect(await store.folders.membersOf(folder.object)).toHaveLength(1)
    await release(store, after + HOUR)
    await release(store, after + HOUR)
    expect(await pending(store, after + HOUR)).toEqual([digestOf('a')])
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('becomes public only without files that its owner keeps private', async (store) => {
    await stageWords(store, ['kept', 'sent'], { visibility: 'private' })
    const folder = await folderOf(store, { members: ['kept', 'sent'], taken: ['sent'], visibility: 'private' })
    const publish = () => store.files.change({ file: folder.sequence, now: NOW, maxTermDays: 30, visibility: 'public' })
    expect(await publish()).toEqual({ outcome: 'private_members', objects: [digestOf('kept')] })
    expect(await served(store, keyOf('sent'))).not.toContain('folder')
    await remove(store, keyOf('kept'))
    expect(await publish()).toMatchObject({ outcome: 'changed' })
    expect(await served(store, keyOf('sent'))).toBe('folder as bytes')
  })

  it('goes on without a file that is blocked, at provers as well', async (store) => {
    await stageWords(store, ['a', 'b'])
    const folder = await folderOf(store, { members: ['a', 'b'], taken: ['a', 'b'] })
    await closeTaken(store)
    const membersOf = async (after = folder.sequence) =>
      (await store.placements.unenrolled({ after, limit: 10 })).map(({ members }) =>
        members.map(({ object }) => object),
      )
    expect(await membersOf(folder.sequence - 1)).toEqual([[digestOf('a'), digestOf('b')]])
    const pieceRoot = pieceRootOf('aggregate')
    const members = ['a', 'b'].map((word, index) => ({ object: digestOf(word), paddedOffsetBytes: 128 * index }))
    await store.placements.enrol({
      now: NOW,
      upTo: folder.sequence,
      enrolments: [
        {
          file: folder.sequence,
          copiesWanted: 1,
          as: { kind: 'pieces', pieces: [{ pieceRoot, sizeBytes: 1000, members }] },
        },
      ],
    })
    expect(await membersOf()).toEqual([])
    const [deal] = await store.placements.deals([folder.sequence])
    const piece = deal?.pieces[0]
    expect(piece).toMatchObject({ pieceRoot, sizeBytes: 1000, source: { kind: 'aggregate' } })
    expect((await store.placements.membersOf(piece?.id ?? 0)).map(({ object }) => object)).toEqual(
      ['a', 'b'].map(digestOf),
    )

    const name = blockedNameOf(keyOf('a'))
    await store.takedowns.block({ name, cid: 'a', reason: 'Why.', by: 'admin', now: NOW, deletes: true })
    expect(await pending(store)).toEqual([digestOf('a')])
    expect(await membersOf()).toEqual([[digestOf('b')]])
    expect(await served(store, keyOf('b'))).toBe('folder as bytes')
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('has the deals of files closed that were sent for it', async (store) => {
    await stageWords(store, ['a'])
    const [file] = await store.files.list({ principal: ALICE, now: NOW, limit: 1, ended: 'live' })
    const sequence = file?.sequence ?? 0
    const enrolments = [{ file: sequence, copiesWanted: 1, as: { kind: 'wait' } as const }]
    await store.placements.enrol({ now: NOW, upTo: sequence, enrolments })
    expect(await store.placements.waiting({ limit: 10 })).toMatchObject([{ file: sequence }])
    await folderOf(store, { members: ['a'], taken: ['a'] })
    expect(await store.placements.unenrolled({ after: sequence, limit: 10 })).toMatchObject([{ file: sequence }])
    await closeTaken(store)
    expect(await store.placements.waiting({ limit: 10 })).toEqual([])
  })

  it('finds what folders are made of', async (store) => {
    await stageWords(store, ['own'])
    await stageWords(store, ['other'], { principal: BOB })
    await stageWords(store, ['secret'], { principal: BOB, visibility: 'private' })
    await stageWords(store, ['sent'])
    await folderOf(store, { members: ['sent'], taken: ['sent'] })
    const imported = `dag-pb:${digestOf('import root')}`
    const digests = Buffer.from(`${digestOf('leaf')}${digestOf('import root')}`, 'hex')
    const dag = { kind: 'import', profile: 'unixfs-v1-2025', digests } as const
    const facts = { aliases: [{ key: imported, view: 'bytes' }], dags: [dag] } as const
    await stageWords(store, ['imported'], { facts })
    const keys = ['own', 'other', 'secret', 'sent', 'never'].map(keyOf)
    const found = await store.folders.find({ principal: ALICE, keys: [...keys, imported], now: NOW })
    expect(
      found.map((one) =>
        one.outcome === 'found' ? [one.isOwn, one.isPublic, one.view, one.profile, one.sizeBytes] : one.outcome,
      ),
    ).toEqual([
      [true, true, 'bytes', undefined, 100],
      [false, true, 'bytes', undefined, 100],
      'missing',
      [true, true, 'bytes', undefined, 100],
      'missing',
      [true, true, 'bytes', 'unixfs-v1-2025', 100],
    ])
  })

  it('finds CARs of which nobody has counted what is in them', async (store) => {
    const facts = { aliases: [{ key: FOLDER_ROOT, view: 'car' }] } as const
    const old = await stage(store, upload({ content: 'old', key: FOLDER_ROOT, facts }))
    await stage(store, upload({ content: 'plain' }))
    await folderOf(store, { members: ['plain'], content: 'counted', key: `dag-pb:${digestOf('other')}` })
    expect(await store.folders.uncounted({ after: 0, limit: 10 })).toEqual([old])
    expect(await store.folders.uncounted({ after: old.sequence, limit: 10 })).toEqual([])
    await store.folders.setCounted({ file: old.sequence, files: 3, bytes: 90 })
    expect(await store.folders.uncounted({ after: 0, limit: 10 })).toEqual([])
    expect(await store.files.bySequence(old.sequence)).toEqual({
      ...old,
      folder: { files: 3, bytes: 90, memberBytes: 0 },
    })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('has hundreds of members', async (store) => {
    const words = times(260, (index) => `word ${index}`)
    await stageWords(store, words)
    const folder = await folderOf(store, { members: words, taken: words })
    expect(await store.folders.membersOf(folder.object)).toHaveLength(260)
    expect(await account(store)).toEqual({ charged: 26_010, reserved: 0, stored: 26_010 })
    await remove(store, FOLDER_ROOT)
    await release(store)
    expect(await pending(store, NOW)).toHaveLength(100)
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  itWithTwo('meets the removal of a file that it needs', async (store, other) => {
    await stageWords(store, ['a'])
    const [made] = await Promise.all([makeFolder(store, { members: ['a'], day: DAY }), remove(other, keyOf('a'))])
    await release(store)
    if (made.outcome === 'recorded') {
      expect(await served(store, keyOf('a'))).toBe('folder as bytes')
      expect(await pending(store)).toEqual([])
    } else {
      expect(made.outcome).toBe('unusable_members')
      expect(await pending(store)).toEqual([digestOf('a')])
    }
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  itAcrossRestart('is kept', async (store, restart) => {
    await stageWords(store, ['a'])
    const folder = await folderOf(store, { members: ['a'], taken: ['a'] })
    const again = await restart()
    expect(await again.files.bySequence(folder.sequence)).toEqual(folder)
    expect(await served(again, keyOf('a'))).toBe('folder as bytes')
  })
}
