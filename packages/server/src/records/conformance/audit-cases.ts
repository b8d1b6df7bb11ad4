import { expect } from 'vitest'
import { ALICE, type Cases, digestOf, HOUR, NOW, stage, times, upload } from './case.ts'
import {
  audit,
  copyAt,
  dealStatus,
  enrol,
  NORTH,
  place,
  placedFile,
  reconcile,
  SOUTH,
  unreconciledPieces,
} from './placing.ts'

export function auditCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  it('makes a copy proved when a proof held, and says when the next one is due', async (store) => {
    const { file, copy } = await placedFile(store, 'stored')
    await audit(store, copy, { at: NOW + 1, nextAt: NOW + HOUR })
    const proved = { state: 'stored', provedAt: NOW + 1, retrievableAt: null, attempts: 0, nextAt: NOW + HOUR }
    expect(await copyAt(store, file, NORTH)).toMatchObject(proved)
    await audit(store, copy, { at: NOW + 2, nextAt: NOW + HOUR, isRetrievable: true })
    expect(await copyAt(store, file, NORTH)).toMatchObject({ provedAt: NOW + 2, retrievableAt: NOW + 2 })
    await audit(store, copy, { at: NOW + 3, nextAt: NOW + HOUR })
    expect(await copyAt(store, file, NORTH)).toMatchObject({ provedAt: NOW + 3, retrievableAt: NOW + 2 })
  })

  it('takes the proof away when an audit failed, and fails the copy with the last one', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'proved')
    await audit(store, copy, { at: NOW + 1, passed: false, cause: 'late', nextAt: NOW + 2 })
    const unproved = { state: 'stored', provedAt: null, attempts: 1, nextAt: NOW + 2, endedAt: null, cause: null }
    expect(await copyAt(store, file, NORTH)).toMatchObject(unproved)
    expect(await unreconciledPieces(store, NOW + 1)).toEqual([])
    await audit(store, copy, { at: NOW + 3, passed: false, cause: 'wrong leaf', isFinal: true })
    expect(await copyAt(store, file, NORTH)).toMatchObject({ state: 'failed', endedAt: NOW + 3, cause: 'wrong leaf' })
    expect(await unreconciledPieces(store, NOW + 3)).toEqual([piece])
  })

  it('lists the audits of every copy of a file, newest first', async (store) => {
    const file = await stage(store, upload())
    const [piece = 0] = await enrol(store, file)
    const { id: north } = await place(store, { file, piece, prover: NORTH, as: 'stored' })
    const { id: south } = await place(store, { file, piece, prover: SOUTH, as: 'stored' })
    const proof = Buffer.from([1, 0, 255])
    await audit(store, north, { at: NOW + 1, seed: digestOf('first'), proof })
    await audit(store, south, { at: NOW + 2, seed: digestOf('second'), passed: false, cause: 'no answer' })
    const of = { pieceRoot: file.pieceRoot, pieceSizeBytes: 100 }
    const seeds = { first: digestOf('first'), second: digestOf('second') }
    const newest = { ...of, copy: south, prover: SOUTH, at: NOW + 2, passed: false, cause: 'no answer', proof: null }
    const audits = await store.placements.audits({ file: file.sequence, limit: 10 })
    expect(audits).toEqual([
      { ...newest, seed: seeds.second },
      { ...of, copy: north, prover: NORTH, at: NOW + 1, seed: seeds.first, passed: true, cause: null, proof },
    ])
    expect(await store.placements.audits({ file: file.sequence, limit: 1 })).toEqual(audits.slice(0, 1))
    expect(await store.placements.audits({ file: 4_711, limit: 10 })).toEqual([])
  })

  it('keeps the seed and the proof of the last audit of a copy alone', async (store) => {
    const { file, copy } = await placedFile(store, 'stored')
    const seeds = ['first', 'second', 'third'].map(digestOf)
    for (const [index, seed] of seeds.entries()) {
      const failure = index === 1 ? { passed: false, cause: 'late' } : {}
      await audit(store, copy, { at: NOW + index, seed, proof: Buffer.alloc(2000, index), ...failure })
    }
    expect(await store.placements.audits({ file: file.sequence, limit: 10 })).toMatchObject([
      { at: NOW + 2, passed: true, cause: null, seed: seeds[2], proof: Buffer.alloc(2000, 2) },
      { at: NOW + 1, passed: false, cause: 'late', seed: null, proof: null },
      { at: NOW, passed: true, cause: null, seed: null, proof: null },
    ])
    await audit(store, copy, { at: NOW + 3, passed: false, cause: 'no answer' })
    expect((await store.placements.audits({ file: file.sequence, limit: 1 }))[0]).toMatchObject({ proof: null })
  })

  it('keeps the last 30 audits of a copy, and those of others', async (store) => {
    const { file, copy } = await placedFile(store, 'stored')
    const other = await placedFile(store, 'stored', { content: 'other' })
    await audit(store, other.copy)
    await Promise.all(times(40, (index) => audit(store, copy, { at: NOW + index })))
    const audits = await store.placements.audits({ file: file.sequence, limit: 100 })
    expect(audits.map(({ at }) => at - NOW)).toEqual(times(30, (index) => 39 - index))
    expect(await store.placements.audits({ file: other.file.sequence, limit: 100 })).toHaveLength(1)
  })

  it('records an audit of a copy that has ended, which changes nothing else', async (store) => {
    const { file, copy } = await placedFile(store, 'stored')
    await store.placements.fail({ copy, cause: 'lost', now: NOW })
    await audit(store, copy, { isRetrievable: true })
    expect(await copyAt(store, file, NORTH)).toMatchObject({ state: 'failed', provedAt: null, retrievableAt: null })
    expect(await dealStatus(store, file)).toEqual(['staged', 0])
    expect(await store.placements.audits({ file: file.sequence, limit: 10 })).toHaveLength(1)
  })

  it('records no failed audit of a copy that nobody needs, or that has ended', async (store) => {
    const { file, copy } = await placedFile(store, 'stored')
    await store.files.remove({ principal: ALICE, key: file.key, now: NOW })
    expect(await audit(store, copy, { passed: false, isFinal: true })).toBe(false)
    expect(await audit(store, copy)).toBe(true)
    const other = await placedFile(store, 'stored', { content: 'other' })
    expect(await store.placements.fail({ copy: other.copy, cause: 'lost', now: NOW })).toBe(true)
    expect(await audit(store, other.copy, { passed: false })).toBe(false)
    const audits = await store.placements.audits({ file: file.sequence, limit: 10 })
    expect(audits.map(({ passed }) => passed)).toEqual([true])
  })

  it('records no failed audit of a piece that has changed since', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'stored')
    const dueRevision = async () => {
      const due = await store.placements.due({ state: 'stored', now: NOW + HOUR, limit: 10 })
      return due.find((one) => one.copy.id === copy)?.revision
    }
    const revision = await dueRevision()
    if (revision === undefined) throw new Error('the copy is not due')
    await store.placements.want({ file: file.sequence, copies: 2, now: NOW })
    await reconcile(store, { piece })
    expect(await audit(store, copy, { passed: false, revision })).toBe(false)
    expect(await audit(store, copy, { passed: false, revision: await dueRevision() })).toBe(true)
  })

  it('says whether a copy that failed was lost: not when it had ended, nor when nobody needed it', async (store) => {
    const { file, copy } = await placedFile(store, 'stored')
    await store.files.remove({ principal: ALICE, key: file.key, now: NOW })
    const lost = (id: number) => store.placements.fail({ copy: id, cause: 'lost', now: NOW })
    expect(await lost(copy)).toBe(false)
    const other = await placedFile(store, 'stored', { content: 'other' })
    expect([await lost(other.copy), await lost(other.copy)]).toEqual([true, false])
  })

  it('error: an audit of no copy is recorded nowhere', async (store) => {
    await expect(audit(store, 4_711)).rejects.toMatchObject({ code: 'storage_failed' })
  })

  itWithTwo('keeps the last 30 audits through two handles', async (store, other) => {
    const { file, copy } = await placedFile(store, 'stored')
    await Promise.all(times(40, (index) => audit(index % 2 === 0 ? store : other, copy)))
    expect(await other.placements.audits({ file: file.sequence, limit: 100 })).toHaveLength(30)
  })

  itAcrossRestart('keeps audits', async (store, restart) => {
    const { file, copy } = await placedFile(store, 'proved')
    await audit(store, copy, { passed: false, proof: Buffer.from('proof') })
    const before = await store.placements.audits({ file: file.sequence, limit: 10 })
    const again = await restart()
    expect(await again.placements.audits({ file: file.sequence, limit: 10 })).toEqual(before)
    expect(await copyAt(again, file, NORTH)).toMatchObject({ provedAt: null })
  })
}
