import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import {
  ALICE,
  type Cases,
  commitAtOnce,
  digestOf,
  NOW,
  pieceRootOf,
  stage,
  stageAndRemove,
  upload,
  WEEK,
} from './case.ts'
import { composed, handleOf, stageParts } from './composing.ts'
import { dealOf, dealStatus, enrol, enrolWaiting, slices, unreconciled, wholePiece } from './placing.ts'

export function enrolmentCases({ it, itWithTwo, itAcrossRestart, itBroken }: Cases): void {
  const found = (store: RecordStore, after = 0, limit = 100) => store.placements.unenrolled({ after, limit })
  const foundFiles = async (...args: Parameters<typeof found>) => (await found(...args)).map(({ file }) => file)

  it('finds live files without a deal, oldest first, page by page', async (store) => {
    expect(await found(store)).toEqual([])
    const files = []
    for (const content of ['one', 'two', 'three', 'four']) files.push(await stage(store, upload({ content })))
    await stageAndRemove(store, upload({ content: 'removed' }))
    const sequences = files.map(({ sequence }) => sequence)
    expect(await foundFiles(store)).toEqual(sequences)
    expect(await foundFiles(store, 0, 2)).toEqual(sequences.slice(0, 2))
    expect(await foundFiles(store, sequences[1])).toEqual(sequences.slice(2))
    const [, second] = files
    if (second !== undefined) await enrol(store, second)
    expect(await foundFiles(store)).toEqual(sequences.toSpliced(1, 1))
  })

  it('tells what is known of the bytes of a file', async (store) => {
    const pieceSubtreeRoots = Uint8Array.from({ length: 64 }, (_, index) => index)
    const plain = await stage(store, upload({ content: 'plain', inline: Buffer.alloc(100) }))
    const big = await stage(
      store,
      upload({ content: 'big', sizeBytes: 400, visibility: 'private', facts: { pieceSubtreeRoots } }),
    )
    const known = { pieceSubtreeRoots: new Uint8Array(), parts: [], members: [] }
    const [first, second] = await found(store)
    expect(first).toEqual({
      ...known,
      file: plain.sequence,
      object: digestOf('plain'),
      sizeBytes: 100,
      visibility: 'public',
      pieceRoot: pieceRootOf('plain'),
    })
    expect({ ...second, pieceSubtreeRoots: [...(second?.pieceSubtreeRoots ?? [])] }).toEqual({
      file: big.sequence,
      object: digestOf('big'),
      sizeBytes: 400,
      visibility: 'private',
      pieceRoot: pieceRootOf('big'),
      pieceSubtreeRoots: [...pieceSubtreeRoots],
      parts: [],
      members: [],
    })
  })

  it('finds a composed file with its parts in order, and not those of before', async (store) => {
    const pieceSubtreeRoots = new Uint8Array(64).fill(7)
    const parts = await stageParts(store, 2, { facts: { pieceSubtreeRoots } })
    const whole = await composed(store, parts.toReversed())
    const files = await found(store)
    expect(files.map(({ file, object }) => [file, object])).toEqual([[whole.sequence, handleOf('whole', 200)]])
    expect(files[0]?.parts.map(({ pieceSubtreeRoots: roots, ...part }) => ({ ...part, roots: [...roots] }))).toEqual(
      ['part 1', 'part 0'].map((word) => ({
        object: digestOf(word),
        sizeBytes: 100,
        pieceRoot: pieceRootOf(word),
        roots: [...pieceSubtreeRoots],
      })),
    )
  })

  it('enrols a file with its pieces, which are to be reconciled', async (store) => {
    const file = await stage(store, upload({ sizeBytes: 300 }))
    await enrol(store, file, { copiesWanted: 2, pieces: slices(file, ['a', 'b', 'c']) })
    const source = { kind: 'object', object: file.object } as const
    expect(await dealOf(store, file)).toMatchObject({
      file: file.sequence,
      copiesWanted: 2,
      status: 'staged',
      statusAt: NOW,
      cause: null,
      pieces: ['a', 'b', 'c'].map((word, index) => ({
        pieceRoot: pieceRootOf(word),
        sizeBytes: 100,
        source: { ...source, offsetBytes: index * 100 },
        paddedOffsetBytes: null,
        copies: [],
      })),
    })
    const pieces = await unreconciled(store)
    expect(pieces.map(({ piece }) => piece.pieceRoot)).toEqual(['a', 'b', 'c'].map(pieceRootOf))
    expect(pieces[0]).toMatchObject({ copiesWanted: 2, neededUntil: NOW + WEEK, copies: [], isComplete: true })
    expect(await unreconciled(store, NOW - 1)).toEqual([])
  })

  it('keeps how far files were looked at, which only grows', async (store) => {
    expect(await store.placements.enrolledUpTo()).toBe(0)
    await store.placements.enrol({ now: NOW, upTo: 7, enrolments: [] })
    await store.placements.enrol({ now: NOW, upTo: 5, enrolments: [] })
    expect(await store.placements.enrolledUpTo()).toBe(7)
  })

  it('keeps a file that no prover gets: it has a deal without pieces and waits for nothing', async (store) => {
    const { sequence } = await stage(store, upload())
    const keep = { file: sequence, copiesWanted: 1, as: { kind: 'keep' } } as const
    await store.placements.enrol({ now: NOW, upTo: sequence, enrolments: [keep] })
    expect(await store.placements.deals([sequence])).toMatchObject([{ status: 'staged', pieces: [] }])
    expect(await store.placements.waiting({ limit: 10 })).toEqual([])
    expect([await unreconciled(store), await found(store)]).toEqual([[], []])
  })

  it('has small files wait, oldest first', async (store) => {
    const files = []
    for (const content of ['one', 'two', 'three']) files.push(await stage(store, upload({ content })))
    await enrolWaiting(store, files)
    const waiting = await store.placements.waiting({ limit: 10 })
    expect(waiting).toEqual(
      files.map(({ sequence, object, pieceRoot }) => ({
        file: sequence,
        object,
        sizeBytes: 100,
        pieceRoot,
        since: NOW,
      })),
    )
    expect(await store.placements.waiting({ limit: 2 })).toEqual(waiting.slice(0, 2))
    expect((await store.placements.counts()).waiting).toBe(3)
    await store.files.remove({ principal: ALICE, key: `sha256:${digestOf('two')}`, now: NOW })
    expect(await store.placements.waiting({ limit: 10 })).toEqual([waiting[0], waiting[2]])
  })

  it('passes over files that have ended, and those that are enrolled already', async (store) => {
    const ended = await stage(store, upload({ content: 'ended' }))
    const expired = await stage(store, upload({ content: 'expired', expiresAt: NOW }))
    const twice = await stage(store, upload({ content: 'twice' }))
    await store.files.remove({ principal: ALICE, key: ended.key, now: NOW })
    await enrol(store, twice, { copiesWanted: 2 })
    const enrolments = [ended, expired, twice].map((file) => {
      const as = { kind: 'pieces', pieces: [wholePiece(file)] } as const
      return { file: file.sequence, copiesWanted: 5, as }
    })
    await store.placements.enrol({ now: NOW, upTo: twice.sequence, enrolments })
    const deals = await store.placements.deals([ended, expired, twice].map(({ sequence }) => sequence))
    expect(deals.map(({ file, copiesWanted }) => [file, copiesWanted])).toEqual([[twice.sequence, 2]])
  })

  it('records a piece once, by its root and size, whoever has it', async (store) => {
    const one = await stage(store, upload({ content: 'one' }))
    const two = await stage(store, upload({ content: 'two', sizeBytes: 200 }))
    const [first] = await enrol(store, one, { copiesWanted: 3 })
    const again = { ...wholePiece(one), object: two.object, offsetBytes: 100 }
    const longer = { ...again, sizeBytes: 200, offsetBytes: 0 }
    const ids = await enrol(store, two, { pieces: [longer, again, again] })
    expect(ids).toEqual([expect.any(Number), first, first])
    expect(ids[0]).not.toBe(first)
    expect(await dealOf(store, two)).toMatchObject({
      pieces: [{}, { source: { object: one.object, offsetBytes: 0 } }, {}],
    })
    expect((await unreconciled(store)).map(({ copiesWanted }) => copiesWanted).toSorted()).toEqual([1, 3])
  })

  it('finds the bytes of a piece where they still are', async (store) => {
    const one = await stage(store, upload({ content: 'one' }))
    const two = await stage(store, upload({ content: 'two', sizeBytes: 200 }))
    await enrol(store, one)
    await enrol(store, two, { pieces: [{ ...wholePiece(one), object: two.object, offsetBytes: 100 }] })
    const source = async () => (await dealOf(store, two)).pieces[0]?.source
    expect(await source()).toEqual({ kind: 'object', object: one.object, offsetBytes: 0 })
    await store.files.remove({ principal: ALICE, key: one.key, now: NOW })
    expect(await source()).toEqual({ kind: 'object', object: two.object, offsetBytes: 100 })
  })

  it('enrols the pieces of a composed file under whatever it is called', async (store) => {
    const handle = handleOf('whole', 200)
    const whole = await composed(store, await stageParts(store))
    expect(await commitAtOnce(store, upload({ content: 'whole', sizeBytes: 200 }))).toMatchObject({ outcome: 'retry' })
    await enrol(store, whole, { pieces: [{ ...wholePiece(whole), object: handle }] })
    expect(await dealOf(store, whole)).toMatchObject({ pieces: [{ source: { object: digestOf('whole') } }] })
  })

  it('error: a piece of bytes that were never recorded enrols nothing', async (store) => {
    const file = await stage(store, upload())
    const unknown = { ...wholePiece(file), object: digestOf('never seen') }
    await expect(enrol(store, file, { pieces: [wholePiece(file), unknown] })).rejects.toMatchObject({
      code: 'storage_failed',
    })
    expect(await foundFiles(store)).toEqual([file.sequence])
    expect([await unreconciled(store), await store.placements.enrolledUpTo()]).toEqual([[], 0])
  })

  itWithTwo('enrols a file once through two handles', async (store, other) => {
    const file = await stage(store, upload())
    await Promise.all([store, other, store, other].map((each) => enrol(each, file)))
    expect(await dealStatus(other, file)).toEqual(['staged', 0])
    expect(await unreconciled(other)).toHaveLength(1)
    expect((await store.placements.counts()).deals).toEqual([{ status: 'staged', count: 1 }])
  })

  itAcrossRestart('keeps what was enrolled', async (store, restart) => {
    const file = await stage(store, upload())
    await enrol(store, file)
    const before = [await dealOf(store, file), await unreconciled(store)]
    const again = await restart()
    expect([await dealOf(again, file), await unreconciled(again)]).toEqual(before)
    expect(await again.placements.enrolledUpTo()).toBe(file.sequence)
  })

  itBroken('error: a broken medium is storage_failed, and never nothing to do', async (store, breakNow) => {
    const file = await stage(store, upload())
    await enrol(store, file)
    breakNow()
    const failed = { code: 'storage_failed' }
    await expect(found(store)).rejects.toMatchObject(failed)
    await expect(unreconciled(store)).rejects.toMatchObject(failed)
    await expect(store.placements.deals([file.sequence])).rejects.toMatchObject(failed)
    await expect(store.placements.markAllUnreconciled({ now: NOW })).rejects.toMatchObject(failed)
  })
}
