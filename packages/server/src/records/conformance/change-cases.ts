import { expect } from 'vitest'
import type { ChangeFileRequest, RecordStore } from '../record-store.ts'
import { ALICE, type Cases, HOUR, NOW, pieceRootOf, stage, times, upload, WEEK } from './case.ts'

const DAY = 24 * HOUR

export function changeCases({ it }: Cases): void {
  const change = (store: RecordStore, file: number, asked: Partial<ChangeFileRequest>) =>
    store.files.change({ file, now: NOW, maxTermDays: 365, ...asked })
  const once = (key: string, request = 'add 7') => ({ principal: ALICE, key, request, until: NOW + DAY })

  it('changes what is named of a live file, and nothing else', async (store) => {
    const file = await stage(store, upload({ filename: 'old.txt' }))
    const { sequence } = file
    expect(await change(store, sequence, {})).toEqual({ outcome: 'changed', file })
    const renamed = { ...file, filename: 'new.txt' }
    expect(await change(store, sequence, { filename: 'new.txt' })).toEqual({ outcome: 'changed', file: renamed })
    const wanted = { visibility: 'private', contentType: 'image/png', filename: null, term: { termDays: 9 } } as const
    const { term: _, ...rest } = wanted
    const changed = { ...file, ...rest, termDays: 9, expiresAt: file.expiresAt + 2 * DAY }
    expect(await change(store, sequence, wanted)).toEqual({ outcome: 'changed', file: changed })
    expect(await store.files.bySequence(sequence)).toEqual(changed)
  })

  it('changes no file that has ended', async (store) => {
    const { sequence, key, expiresAt } = await stage(store, upload())
    expect(await change(store, sequence, { filename: 'x', now: expiresAt })).toEqual({ outcome: 'ended' })
    await store.files.remove({ principal: ALICE, key, now: NOW })
    expect(await change(store, sequence, { filename: 'x' })).toEqual({ outcome: 'ended' })
    expect(await change(store, 4_711, { filename: 'x' })).toEqual({ outcome: 'ended' })
    expect(await store.files.bySequence(sequence)).toMatchObject({ filename: null })
  })

  it('makes terms longer by days, to a length, or until a time, and never shorter', async (store) => {
    const { sequence } = await stage(store, upload())
    const termAfter = async (term: ChangeFileRequest['term']) => {
      const outcome = await change(store, sequence, { term })
      return 'file' in outcome ? [outcome.file.termDays, (outcome.file.expiresAt - NOW) / DAY] : outcome
    }
    expect(await termAfter({ addDays: 3 })).toEqual([10, 10])
    expect(await termAfter({ addDays: 3 })).toEqual([13, 13])
    expect(await termAfter({ termDays: 12 })).toEqual([13, 13])
    expect(await termAfter({ termDays: 20 })).toEqual([20, 20])
    expect(await termAfter({ until: NOW + 19.5 * DAY })).toEqual([20, 20])
    expect(await termAfter({ until: NOW + 20.5 * DAY })).toEqual([21, 21])
    expect(await termAfter({ addDays: 345 })).toEqual({ outcome: 'too_long', termDays: 21 })
    expect(await termAfter({ addDays: 344 })).toEqual([365, 365])
  })

  it('adds days as often as it is asked at the same time', async (store) => {
    const { sequence } = await stage(store, upload())
    await Promise.all(times(10, () => change(store, sequence, { term: { addDays: 1 } })))
    expect(await store.files.bySequence(sequence)).toMatchObject({ termDays: 17, expiresAt: NOW + WEEK + 10 * DAY })
  })

  it('makes a change under one key once, and knows another request by it', async (store) => {
    const { sequence } = await stage(store, upload())
    const term = { addDays: 7 }
    await Promise.all(times(5, () => change(store, sequence, { term, once: once('a') })))
    expect(await change(store, sequence, { term, once: once('a') })).toMatchObject({ file: { termDays: 14 } })
    expect(await change(store, sequence, { term, once: once('b') })).toMatchObject({ file: { termDays: 21 } })
    const other = { term: { addDays: 1 }, once: once('a', 'add 1') }
    expect(await change(store, sequence, other)).toEqual({ outcome: 'key_reused' })
    const foreign = { ...once('a', 'add 1'), principal: 'user:bob' }
    expect(await change(store, sequence, { ...other, once: foreign })).toMatchObject({ file: { termDays: 22 } })
  })

  it('forgets a key after its time, and takes none for a change that was refused', async (store) => {
    const { sequence } = await stage(store, upload())
    const tooLong = { term: { addDays: 1000 }, once: once('a') }
    expect(await change(store, sequence, tooLong)).toEqual({ outcome: 'too_long', termDays: 7 })
    await change(store, sequence, { term: { addDays: 7 }, once: once('a') })
    expect(await store.nonces.expire({ now: NOW + DAY, limit: 10 })).toBe(1)
    expect(await change(store, sequence, { term: { addDays: 7 }, once: once('a') })).toMatchObject({
      file: { termDays: 21 },
    })
  })

  describeVisibility(it)
}

function describeVisibility(it: Cases['it']): void {
  const setVisibility = (store: RecordStore, file: number, visibility: 'public' | 'private') =>
    store.files.change({ file, now: NOW, maxTermDays: 365, visibility })
  const enrolAll = async (store: RecordStore, kind: 'keep' | 'pieces') => {
    const files = await store.placements.unenrolled({ after: await store.placements.enrolledUpTo(), limit: 10 })
    const enrolments = files.map(({ file, object, sizeBytes }) => ({
      file,
      copiesWanted: 1,
      as:
        kind === 'keep'
          ? ({ kind } as const)
          : ({ kind, pieces: [{ object, offsetBytes: 0, sizeBytes, pieceRoot: pieceRootOf('hello') }] } as const),
    }))
    await store.placements.enrol({ now: NOW, upTo: files.at(-1)?.file ?? 0, enrolments })
    return files
  }
  const needs = async (store: RecordStore) =>
    (await store.placements.unreconciled({ now: NOW, limit: 10 })).map(({ copiesWanted }) => copiesWanted)

  it('has provers release a file that becomes private, and take it again when it is public', async (store) => {
    const { sequence } = await stage(store, upload())
    await enrolAll(store, 'pieces')
    expect(await needs(store)).toEqual([1])
    await setVisibility(store, sequence, 'private')
    expect(await needs(store)).toEqual([0])
    expect(await store.placements.statuses([sequence])).toMatchObject([{ status: 'staged' }])
    await setVisibility(store, sequence, 'public')
    expect(await needs(store)).toEqual([1])
    expect(await store.placements.unenrolled({ after: sequence, limit: 10 })).toEqual([])
  })

  it('enrols a file again that was private from the start', async (store) => {
    const { sequence } = await stage(store, upload({ visibility: 'private' }))
    const later = await stage(store, upload({ content: 'later' }))
    await enrolAll(store, 'keep')
    await setVisibility(store, sequence, 'public')
    expect(await enrolAll(store, 'pieces')).toMatchObject([{ file: sequence, visibility: 'public' }])
    expect(await needs(store)).toEqual([1])
    expect(await store.placements.enrolledUpTo()).toBe(later.sequence)
    expect(await enrolAll(store, 'pieces')).toEqual([])
    expect((await store.placements.counts()).deals).toEqual([{ status: 'staged', count: 2 }])
  })

  it('places no file that became private after it was decided to', async (store) => {
    const { sequence, key } = await stage(store, upload())
    const [file] = await store.placements.unenrolled({ after: 0, limit: 10 })
    await setVisibility(store, sequence, 'private')
    const pieces = [{ object: file?.object ?? '', offsetBytes: 0, sizeBytes: 100, pieceRoot: pieceRootOf('hello') }]
    const enrolment = { file: sequence, copiesWanted: 1, as: { kind: 'pieces', pieces } } as const
    await store.placements.enrol({ now: NOW, upTo: sequence, enrolments: [enrolment] })
    expect(await needs(store)).toEqual([])
    await setVisibility(store, sequence, 'public')
    await store.files.remove({ principal: ALICE, key, now: NOW })
    expect(await enrolAll(store, 'pieces')).toHaveLength(1)
    expect([await needs(store), await enrolAll(store, 'pieces')]).toEqual([[], []])
  })
}
