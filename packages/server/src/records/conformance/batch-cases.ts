import { expect } from 'vitest'
import type { Enrolment, FileRecord, NewAggregate, NewPiece, RecordStore } from '../record-store.ts'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  commitAtOnce,
  counted,
  digestOf,
  HOUR,
  NOW,
  pending,
  pieceRootOf,
  stage,
  times,
  upload,
  WEEK,
} from './case.ts'
import { composed, stageParts } from './composing.ts'
import { FOLDER_ROOT, folderOf } from './folder-cases.ts'
import { dealOf, dealStatus, enrol, NORTH, place, reconcileAll, unreconciled, wholePiece } from './placing.ts'

const LATER = NOW + WEEK
/** More than one statement is asked about at once. */
const MANY = 300

const expire = (store: RecordStore, request: { now?: number; keepMs?: number } = {}) =>
  store.files.expire({ now: LATER, limit: 1000, ...request })
const release = (store: RecordStore, now: number) => store.files.releaseEnded({ now, limit: 1000 })
const enrolAll = (store: RecordStore, enrolments: readonly Enrolment[]) =>
  store.placements.enrol({ now: NOW, upTo: Math.max(0, ...enrolments.map(({ file }) => file)), enrolments })
const carriedBy = ({ sequence }: FileRecord, ...pieces: readonly (NewPiece | NewAggregate)[]): Enrolment => ({
  file: sequence,
  copiesWanted: 1,
  as: { kind: 'pieces', pieces },
})
const withDeal = async (store: RecordStore, files: readonly FileRecord[]) =>
  (await store.placements.deals(files.map(({ sequence }) => sequence))).map(({ file }) => file)

async function stageMany(store: RecordStore, count: number): Promise<FileRecord[]> {
  const outcomes = await Promise.all(
    times(count, (index) =>
      commitAtOnce(store, upload({ content: `file ${index}`, capBytes: 1e6, expiresAt: NOW + 1 + index })),
    ),
  )
  expect(counted(outcomes)).toEqual({ recorded: count })
  return [...(await store.files.list({ principal: ALICE, now: NOW, limit: count, ended: 'live' }))].reverse()
}

/** Ends of files, and enrolments, of which many are one write. */
export function batchCases({ it, itWithTwo }: Cases): void {
  it('lets go of bytes when the last two files of them end in one batch', async (store) => {
    for (const principal of [ALICE, BOB]) await stage(store, upload({ principal }))
    await stage(store, upload({ content: 'other' }))
    await stage(store, upload({ content: 'other', principal: BOB, expiresAt: LATER + 1 }))
    expect(await expire(store)).toBe(3)
    expect(await pending(store)).toEqual([digestOf('hello')])
    expect(await expire(store, { now: LATER + 1 })).toBe(1)
    expect((await pending(store)).toSorted()).toEqual(['hello', 'other'].map(digestOf).toSorted())
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('takes each file of a batch off its own day and its own principal', async (store) => {
    const days = ['2026-11-19', '2026-11-20', '2026-11-20', '2026-11-21']
    for (const [index, day] of days.entries()) {
      for (const principal of [ALICE, BOB, 'ip:2001:db8:1:2::/64', 'ip:2001:db8:1:3::/64']) {
        const expiresAt = principal === BOB && day === '2026-11-20' ? LATER + 1 : LATER
        await stage(store, upload({ content: `file ${index}`, principal, day, sizeBytes: 10 ** index, expiresAt }))
      }
    }
    expect(await expire(store)).toBe(14)
    expect([(await account(store)).stored, (await account(store, BOB)).stored]).toEqual([0, 110])
    const usage = await store.quotas.usage({ principal: BOB, fromDay: '2026-11-19', today: '2026-11-21', now: NOW })
    expect(usage.days.map(({ bytes }) => bytes)).toEqual([1, 110, 1000])
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('ends a folder beside a file that it has, and one that another folder has still', async (store) => {
    for (const content of ['a', 'b', 'sent']) await stage(store, upload({ content }))
    const folder = await folderOf(store, { members: ['a', 'b', 'sent'], taken: ['sent'], expiresAt: LATER })
    const key = `dag-pb:${digestOf('other root')}`
    const facts = { aliases: [{ key, view: 'car' as const }] }
    const other = { content: 'other folder', key, facts, expiresAt: LATER + 1 }
    const kept = await folderOf(store, { members: ['b'], ...other })
    expect(await expire(store)).toBe(3)
    await release(store, LATER)
    await release(store, LATER)
    expect((await pending(store)).toSorted()).toEqual(['a', 'sent'].map(digestOf).toSorted())
    expect(await store.folders.membersOf(folder.object)).toEqual([])
    expect(await store.folders.membersOf(kept.object)).toHaveLength(1)
    expect(await account(store)).toMatchObject({ stored: 110 })
    await expire(store, { now: LATER + 1 })
    await release(store, LATER + 1)
    expect((await pending(store)).toSorted()).toEqual(['a', 'b', 'sent'].map(digestOf).toSorted())
    expect(await store.files.latest({ principal: ALICE, key: FOLDER_ROOT, now: LATER })).toMatchObject({
      end: 'expired',
    })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('ends a composed file beside a file of one of its parts', async (store) => {
    const parts = await stageParts(store, 3)
    await stageParts(store, 1, { principal: BOB })
    await composed(store, parts)
    expect(await expire(store)).toBe(2)
    expect((await pending(store)).toSorted()).toEqual(['part 0', 'part 1', 'part 2'].map(digestOf).toSorted())
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('keeps the bytes of a batch for a while, and lets go of them in one', async (store) => {
    for (const content of ['one', 'two', 'again']) await stage(store, upload({ content }))
    expect(await expire(store, { keepMs: HOUR })).toBe(3)
    await stage(store, upload({ content: 'again', now: LATER, expiresAt: LATER + WEEK, leaseUntil: LATER + HOUR }))
    expect([await release(store, LATER + HOUR - 1), await pending(store)]).toEqual([0, []])
    expect([await release(store, LATER + HOUR), await release(store, LATER + HOUR)]).toEqual([3, 0])
    expect((await pending(store)).toSorted()).toEqual(['one', 'two'].map(digestOf).toSorted())
  })

  it('has no trouble with a batch of none', async (store) => {
    expect([await expire(store), await expire(store, { keepMs: HOUR }), await release(store, LATER)]).toEqual([0, 0, 0])
    await enrolAll(store, [])
    expect(await unreconciled(store)).toEqual([])
  })

  it('enrols and ends more files than one statement takes', async (store) => {
    const files = await stageMany(store, MANY)
    await enrolAll(
      store,
      files.map((file) => carriedBy(file, wholePiece(file))),
    )
    const deals = await store.placements.deals(files.map(({ sequence }) => sequence))
    expect(deals.map(({ pieces }) => pieces.map(({ pieceRoot }) => pieceRoot))).toEqual(
      files.map(({ pieceRoot }) => [pieceRoot]),
    )
    expect((await store.placements.counts()).deals).toEqual([{ status: 'staged', count: MANY }])
    await reconcileAll(store)
    expect(await store.placements.unreconciled({ now: NOW, limit: MANY })).toHaveLength(MANY - 100)

    expect(await expire(store, { now: NOW + MANY - 1 })).toBe(MANY - 1)
    const ended = await Promise.all(files.map(({ sequence }) => store.files.bySequence(sequence)))
    expect(ended.map((file) => file?.endedAt)).toEqual([...times(MANY - 1, (index) => NOW + 1 + index), null])
    expect((await store.placements.counts()).deals).toEqual([{ status: 'staged', count: 1 }])
    const left = await store.placements.unreconciled({ now: LATER, limit: MANY })
    expect(left.filter(({ copiesWanted }) => copiesWanted === 0)).toHaveLength(MANY - 1)
    const due = await store.discards.pending({ instanceId: 'somebody', now: LATER, limit: MANY })
    expect(due.map(({ sha256 }) => sha256).toSorted()).toEqual(
      files
        .slice(0, -1)
        .map(({ object }) => object)
        .toSorted(),
    )
    expect(await account(store)).toEqual({ charged: MANY * 100, reserved: 0, stored: 100 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  itWithTwo('ends each file once beside its removal', async (store, other) => {
    const files = await stageMany(store, 24)
    const removals = files.map(({ key }) => other.files.remove({ principal: ALICE, key, now: NOW }))
    const [expired, ...removed] = await Promise.all([expire(store), ...removals])
    const kept = removed.filter((file) => file !== undefined).length
    expect(Number(expired) + kept).toBe(files.length)
    expect(await expire(store)).toBe(0)
    expect(await account(store)).toEqual({ charged: 2400, reserved: 0, stored: 0 })
    expect((await pending(store)).toSorted()).toEqual(files.map(({ object }) => object).toSorted())
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('records a piece once that two files of a batch bring, and finds it where it was first', async (store) => {
    const [one, two, known] = [
      await stage(store, upload({ content: 'one' })),
      await stage(store, upload({ content: 'two', sizeBytes: 200 })),
      await stage(store, upload({ content: 'known' })),
    ]
    const [before] = await enrol(store, known)
    const again = { ...wholePiece(one), object: two.object, offsetBytes: 100 }
    const longer = { ...wholePiece(one), object: two.object, sizeBytes: 200 }
    const third = await stage(store, upload({ content: 'known', principal: BOB }))
    await enrolAll(store, [
      carriedBy(one, wholePiece(one)),
      carriedBy(two, longer, again),
      carriedBy(third, wholePiece(known)),
    ])
    const [first] = (await dealOf(store, one)).pieces
    const [other, second] = (await dealOf(store, two)).pieces
    expect([first?.id, first?.source]).toEqual([second?.id, { kind: 'object', object: one.object, offsetBytes: 0 }])
    expect(other?.id).not.toBe(first?.id)
    expect((await dealOf(store, third)).pieces.map(({ id }) => id)).toEqual([before])
    expect(await unreconciled(store)).toHaveLength(3)
  })

  it('decides for each file of a batch by itself', async (store) => {
    const files = new Map<string, FileRecord>()
    for (const word of ['plain', 'small', 'private', 'kept', 'ended', 'over', 'twice', 'again']) {
      const visibility = word === 'private' || word === 'again' ? 'private' : 'public'
      files.set(
        word,
        await stage(store, upload({ content: word, visibility, expiresAt: word === 'over' ? NOW : LATER })),
      )
    }
    const file = (word: string): FileRecord => files.get(word) ?? expect.unreachable()
    await enrol(store, file('twice'), { copiesWanted: 2 })
    await enrol(store, file('again'), { pieces: [] })
    await store.files.change({ file: file('again').sequence, now: NOW, maxTermDays: 30, visibility: 'public' })
    await enrol(store, file('ended'))
    await store.files.remove({ principal: ALICE, key: file('ended').key, now: NOW })
    await enrolAll(store, [
      ...['plain', 'private', 'ended', 'over', 'twice', 'again'].map((word) =>
        carriedBy(file(word), wholePiece(file(word))),
      ),
      { file: file('small').sequence, copiesWanted: 1, as: { kind: 'wait' } },
      { file: file('kept').sequence, copiesWanted: 1, as: { kind: 'keep' } },
    ])
    const words = ['plain', 'small', 'private', 'kept', 'over', 'twice', 'again']
    const withPieces = async (word: string) => {
      const [deal] = await store.placements.deals([file(word).sequence])
      return deal === undefined ? undefined : [deal.copiesWanted, deal.pieces.length]
    }
    expect(await Promise.all(words.map(withPieces))).toEqual([
      [1, 1],
      [1, 0],
      [1, 0],
      [1, 0],
      undefined,
      [2, 1],
      [1, 1],
    ])
    const waiting = await store.placements.waiting({ limit: 10 })
    expect(waiting.map(({ file: sequence }) => sequence)).toEqual([file('small').sequence])
    expect(await withDeal(store, [file('over')])).toEqual([])
    expect((await store.placements.counts()).deals).toEqual([{ status: 'staged', count: 6 }])
  })

  it('has two folders of a batch share an aggregate', async (store) => {
    for (const content of ['a', 'b']) await stage(store, upload({ content }))
    const one = await folderOf(store, { members: ['a', 'b'] })
    const other = await stage(store, upload({ content: 'beside' }))
    const members = ['a', 'b'].map((word, index) => ({ object: digestOf(word), paddedOffsetBytes: 128 * index }))
    const aggregate = { pieceRoot: pieceRootOf('aggregate'), sizeBytes: 1000, members }
    await enrolAll(store, [carriedBy(one, aggregate), carriedBy(other, wholePiece(other), aggregate)])
    const [piece] = (await dealOf(store, one)).pieces
    expect(piece).toMatchObject({ source: { kind: 'aggregate' }, paddedOffsetBytes: 0 })
    expect((await dealOf(store, other)).pieces.map(({ id }) => id)).toEqual([expect.any(Number), piece?.id])
    const found = await store.placements.membersOf(piece?.id ?? 0)
    expect(found.map(({ object, paddedOffsetBytes }) => [object, paddedOffsetBytes])).toEqual(
      members.map(({ object, paddedOffsetBytes }) => [object, paddedOffsetBytes]),
    )
  })

  it('gives each deal of a batch the status that its pieces have already', async (store) => {
    const proved = await stage(store, upload({ content: 'proved' }))
    const [piece = 0] = await enrol(store, proved)
    await place(store, { file: proved, piece, prover: NORTH, as: 'proved' })
    const files = [
      await stage(store, upload({ content: 'proved', principal: BOB })),
      await stage(store, upload({ content: 'proved', principal: 'user:carol' })),
      await stage(store, upload({ content: 'new', principal: BOB })),
    ]
    await enrolAll(
      store,
      files.map((file) => carriedBy(file, wholePiece(file))),
    )
    expect(await Promise.all(files.map((file) => dealStatus(store, file)))).toEqual([
      ['active', 0],
      ['active', 0],
      ['staged', 0],
    ])
    expect((await store.placements.counts()).deals.toSorted((a, b) => a.count - b.count)).toEqual([
      { status: 'staged', count: 1 },
      { status: 'active', count: 3 },
    ])
  })
}
