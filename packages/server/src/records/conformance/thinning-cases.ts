import { DAY_MS } from '@lade/core/time'
import { expect } from 'vitest'
import { blockedNameOf } from '../blocked-name.ts'
import type { FileRecord, RecordStore } from '../record-store.ts'
import {
  ALICE,
  BOB,
  type Cases,
  commitAtOnce,
  DAY,
  digestOf,
  HOUR,
  NOW,
  served,
  stage,
  times,
  upload,
  WEEK,
} from './case.ts'
import { composed, stageParts, WHOLE_ROOT } from './composing.ts'
import {
  audit,
  confirm,
  dealOf,
  enrol,
  enrolWaiting,
  NORTH,
  openAddition,
  place,
  placedFile,
  reconcile,
} from './placing.ts'
import { CONTRACT, final, mined, propose, queue, transactionOf } from './proposing.ts'

const LATER = NOW + 100 * DAY_MS
const keyOf = (content: string): string => `sha256:${digestOf(content)}`

export function thinningCases({ it, itAcrossRestart }: Cases): void {
  /** The newest file stays, whatever it is. */
  const stageNewest = (store: RecordStore) => stage(store, upload({ content: 'newest', principal: 'user:carol' }))
  const remove = (store: RecordStore, { principal, key }: Pick<FileRecord, 'principal' | 'key'>, now = NOW) =>
    store.files.remove({ principal, key, now })

  /** All that is thinned of what ended before `LATER`; answers how many files and objects went. */
  async function thinAll(store: RecordStore, limit = 100): Promise<{ files: number; objects: number }> {
    await store.erasure.oldFiles({ endedBefore: LATER, limit: 1000 })
    let files = 0
    for (let after: Parameters<typeof store.erasure.thinEnded>[0]['after'], isMore = true; isMore; ) {
      const thinned = await store.erasure.thinEnded({ endedBefore: LATER, after, limit })
      files += thinned.files
      after = thinned.last
      isMore = after !== undefined
    }
    for (const blob of await store.discards.pending({ instanceId: 'thinner', now: LATER, limit: 1000 })) {
      expect(await store.discards.begin({ ...blob, instanceId: 'thinner', now: LATER })).toBe(true)
      await store.discards.finish({ ...blob, instanceId: 'thinner' })
    }
    let objects = 0
    for (let after: number | undefined = 0; after !== undefined; ) {
      const forgotten: { objects: number; last: number | undefined } = await store.erasure.forgetObjects({
        after,
        limit,
      })
      objects += forgotten.objects
      after = forgotten.last
    }
    return { files, objects }
  }

  /** Releases the copies of a piece that nobody needs, and takes them out of their data sets. */
  async function letGo(store: RecordStore, piece: number, copies: readonly number[]): Promise<void> {
    await reconcile(store, { piece, release: copies })
    for (const copy of copies) await store.placements.removed({ copy, now: NOW })
  }

  const copiesCounted = async (store: RecordStore) =>
    (await store.placements.counts()).copies.reduce((sum, { count }) => sum + count, 0)

  it('takes an ended file out of the records with its deal, piece, copies and audits, and answers that it is gone', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'proved')
    const alias = { key: `dag-pb:${digestOf('root')}`, view: 'bytes' } as const
    const other = await stage(store, upload({ content: 'expired', expiresAt: NOW + 1, facts: { aliases: [alias] } }))
    await stageNewest(store)
    await remove(store, file)
    await letGo(store, piece, [copy])
    await store.files.expire({ now: NOW + 2, limit: 10 })
    expect(await thinAll(store)).toEqual({ files: 2, objects: 2 })
    expect(await thinAll(store)).toEqual({ files: 0, objects: 0 })
    expect([await served(store, file.key), await served(store, other.key)]).toEqual(['removed', 'expired'])
    expect(await served(store, alias.key)).toBe('expired')
    expect(await served(store, keyOf('never'))).toBe('absent')
    expect(await store.files.bySequence(file.sequence)).toBeUndefined()
    expect(await store.placements.deals([file.sequence])).toEqual([])
    expect(await store.placements.audits({ file: file.sequence, limit: 10 })).toEqual([])
    expect(await copiesCounted(store)).toBe(0)
    expect((await store.files.list({ principal: ALICE, now: NOW, limit: 10 })).length).toBe(0)
  })

  it('keeps every charge, and finds no drift', async (store) => {
    const token = { id: 'token-1', capBytes: 1_000 }
    for (const content of ['one', 'two']) await stage(store, upload({ content, token }))
    await stage(store, upload({ content: 'live' }))
    await stage(store, upload({ content: 'address', principal: 'ip:192.0.2.7', sponsored: true }))
    await stageNewest(store)
    const before = await store.quotas.usage({ principal: ALICE, fromDay: DAY, today: DAY, now: NOW })
    for (const content of ['one', 'two']) await remove(store, { principal: ALICE, key: keyOf(content) })
    await remove(store, { principal: 'ip:192.0.2.7', key: keyOf('address') })
    expect((await thinAll(store)).files).toBe(3)
    expect(await store.quotas.checkDrift()).toEqual([])
    const after = await store.quotas.usage({ principal: ALICE, fromDay: DAY, today: DAY, now: NOW })
    expect(after).toEqual({ ...before, stored: { bytes: 100, files: 1 } })
    const asked = upload({ content: 'more', sizeBytes: 701, token: { id: 'token-1', capBytes: 900 } })
    expect(await store.quotas.preview(asked)).toMatchObject({ outcome: 'over_quota' })
    const erased = { day: '2026-11-22', endedBefore: LATER, limit: 10 }
    expect(await store.erasure.oldAddresses(erased)).toBe(1)
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('leaves live files, those that ended lately, and those that may come back', async (store) => {
    for (const content of ['live', 'lately', 'kept']) {
      await stage(store, upload({ content, expiresAt: content === 'kept' ? NOW : LATER * 2 }))
    }
    await stageNewest(store)
    await store.files.expire({ now: NOW, limit: 10, keepMs: 200 * DAY_MS })
    await remove(store, { principal: ALICE, key: keyOf('lately') }, LATER)
    expect(await thinAll(store)).toEqual({ files: 0, objects: 0 })
    expect((await store.files.list({ principal: ALICE, now: NOW, limit: 10 })).length).toBe(3)
  })

  it('tells nobody else of a private file that is gone', async (store) => {
    const file = await stage(store, upload({ visibility: 'private' }))
    await stageNewest(store)
    await remove(store, file)
    expect((await thinAll(store)).files).toBe(1)
    expect(await served(store, file.key, ALICE)).toBe('removed')
    expect(await served(store, file.key, BOB)).toBe('absent')
    expect(await served(store, file.key)).toBe('absent')
  })

  it('takes the same bytes again, and their next end is what is answered', async (store) => {
    const { file } = await placedFile(store, 'pending', { expiresAt: NOW + 1 })
    await stageNewest(store)
    await store.files.expire({ now: NOW + 2, limit: 10 })
    const { pieces } = await dealOf(store, file)
    await letGo(store, pieces[0]?.id ?? 0, pieces[0]?.copies.map(({ id }) => id) ?? [])
    expect(await thinAll(store)).toEqual({ files: 1, objects: 1 })
    const again = await stage(store, upload())
    expect(again.sequence).toBeGreaterThan(file.sequence)
    expect(await served(store, file.key)).toBe('hello as bytes')
    await enrol(store, again)
    await remove(store, again)
    expect(await served(store, file.key)).toBe('removed')
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('never uses the number of a file again', async (store) => {
    const file = await stage(store, upload())
    await remove(store, file)
    expect((await thinAll(store)).files).toBe(0)
    const next = await stageNewest(store)
    expect((await thinAll(store)).files).toBe(1)
    expect(next.sequence).toBe(file.sequence + 1)
  })

  it('waits until no prover has a copy any more', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'stored')
    await stageNewest(store)
    await remove(store, file)
    expect((await thinAll(store)).files).toBe(0)
    await reconcile(store, { piece, release: [copy] })
    expect((await thinAll(store)).files).toBe(0)
    expect((await store.placements.removable({ now: LATER, limit: 10 })).length).toBe(1)
    await store.placements.removed({ copy, now: NOW })
    expect((await thinAll(store)).files).toBe(1)
  })

  it('waits while an addition with the copy is under way', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'parked')
    const addition = await openAddition(store, NORTH, [copy])
    await stageNewest(store)
    await remove(store, file)
    await reconcile(store, { piece, release: [copy] })
    expect((await thinAll(store)).files).toBe(0)
    await confirm(store, addition)
    expect((await thinAll(store)).files).toBe(0)
    await store.placements.removed({ copy, now: NOW })
    expect((await thinAll(store)).files).toBe(1)
  })

  it('waits until a deal on the chain has nothing in escrow', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'parked')
    await stageNewest(store)
    await queue(store)
    expect(await propose(store, 0, [copy])).toBe(true)
    const { id } = await transactionOf(store, 0)
    await remove(store, file)
    await letGo(store, piece, [copy])
    expect((await thinAll(store)).files, 'it is being proposed').toBe(0)
    await mined(store, id)
    await final(store, id)
    expect((await thinAll(store)).files, 'its events are not read').toBe(0)
    const changes = [{ onchainId: '41', kind: 'proposed', microUsdc: 10 }] as const
    await store.escrow.apply({ contract: CONTRACT, after: undefined, to: 7, changes, now: NOW })
    expect((await thinAll(store)).files, 'money is in escrow').toBe(0)
    expect(await store.escrow.due({ contract: CONTRACT, now: NOW, limit: 9 })).toMatchObject([{ isNeeded: false }])
    const over = { contract: CONTRACT, onchainId: '41', state: 'withdrawn', nextAt: null, now: NOW } as const
    await store.escrow.checked(over)
    expect((await thinAll(store)).files).toBe(1)
    expect((await store.escrow.totals([CONTRACT])).paidInMicroUsdc).toBe(10)
    expect(await store.chain.dealsOf([copy])).toEqual([])
  })

  it('takes files out of an aggregate that others need, and the aggregate with the last one', async (store) => {
    const files: FileRecord[] = []
    for (const content of ['one', 'two']) files.push(await stage(store, upload({ content })))
    await stageNewest(store)
    await enrolWaiting(store, files)
    const members = files.map(({ sequence }, index) => ({ file: sequence, paddedOffsetBytes: 128 * index }))
    await store.placements.aggregate({ now: NOW, pieceRoot: digestOf('aggregate'), sizeBytes: 1000, members })
    const [one, two] = files as [FileRecord, FileRecord]
    const piece = (await dealOf(store, one)).pieces[0]?.id ?? 0
    const { id: copy } = await place(store, { file: one, piece, prover: NORTH, as: 'proved' })
    await remove(store, one)
    expect(await thinAll(store), 'the aggregate is made of its object').toEqual({ files: 1, objects: 0 })
    expect(await served(store, one.key)).toBe('removed')
    expect(await store.placements.membersOf(piece)).toHaveLength(2)
    await audit(store, copy, { at: NOW + 1 })
    expect((await store.placements.audits({ file: two.sequence, limit: 10 })).length).toBe(2)
    await remove(store, two)
    expect((await thinAll(store)).files).toBe(0)
    await letGo(store, piece, [copy])
    expect(await thinAll(store)).toEqual({ files: 1, objects: 2 })
    expect(await copiesCounted(store)).toBe(0)
  })

  it('keeps what an opaque name is bound to, and what is blocked', async (store) => {
    const named = await stage(store, upload({ content: 'named', key: 'opaque:myfile01' }))
    const blocked = await stage(store, upload({ content: 'blocked' }))
    await stageNewest(store)
    await remove(store, named)
    const name = blockedNameOf(blocked.key)
    await store.takedowns.block({ name, cid: blocked.cid, reason: 'Why.', by: 'admin', now: NOW, deletes: true })
    expect(await thinAll(store)).toEqual({ files: 2, objects: 0 })
    expect(await served(store, 'opaque:myfile01')).toBe('removed')
    expect(await commitAtOnce(store, upload({ content: 'other', key: 'opaque:myfile01' }))).toMatchObject({
      outcome: 'conflict',
      object: named.object,
    })
    expect(await store.takedowns.list({ limit: 10 })).toHaveLength(1)
    expect(await store.takedowns.namesOf(blocked.object)).toContain(name)
  })

  it('leaves the first file of an object that is stored, so that its names keep their meaning', async (store) => {
    const first = await stage(store, upload({ content: 'block' }))
    const root = { key: first.key, view: 'car' } as const
    await remove(store, first)
    await stage(store, upload({ content: 'car', principal: BOB, facts: { aliases: [root] } }))
    await stage(store, upload({ content: 'block' }))
    await stageNewest(store)
    expect(await served(store, first.key)).toBe('block as bytes')
    expect((await thinAll(store)).files).toBe(0)
    expect(await served(store, first.key)).toBe('block as bytes')
  })

  it('leaves the parts of a composed file as long as that is stored, and then takes all of it', async (store) => {
    const parts = await stageParts(store)
    const whole = await composed(store, parts)
    await stageNewest(store)
    expect(await thinAll(store)).toEqual({ files: 0, objects: 0 })
    expect(await served(store, parts[0]?.key ?? '')).toBe('composed')
    await remove(store, whole)
    await thinAll(store)
    expect(await thinAll(store)).toEqual({ files: 0, objects: 0 })
    expect([await served(store, whole.key), await served(store, WHOLE_ROOT)]).toEqual(['removed', 'removed'])
    expect(await served(store, parts[0]?.key ?? '')).toBe('composed')
    for (const { sequence } of [whole, ...parts]) expect(await store.files.bySequence(sequence)).toBeUndefined()
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('goes on behind what has to stay, a few at a time', async (store) => {
    for (const index of times(7, (at) => at)) {
      const { file } = await placedFile(store, 'stored', { content: `stored ${index}` })
      const free = await stage(store, upload({ content: `free ${index}`, capBytes: 1e6 }))
      await remove(store, file, NOW + index)
      await remove(store, free, NOW + index)
    }
    await stageNewest(store)
    expect(await thinAll(store, 2)).toEqual({ files: 7, objects: 7 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  itAcrossRestart('answers that it is gone', async (store, restart) => {
    const file = await stage(store, upload({ expiresAt: NOW + HOUR }))
    await stage(store, upload({ content: 'newest', expiresAt: NOW + WEEK }))
    await remove(store, file)
    await thinAll(store)
    const again = await restart()
    expect(await served(again, file.key)).toBe('removed')
    expect(await again.quotas.checkDrift()).toEqual([])
  })
}
