import { expect } from 'vitest'
import type { Placement, RecordStore } from '../record-store.ts'
import { BOB, type Cases, commitAtOnce, digestOf, NOW, pieceRootOf, stage, upload } from './case.ts'
import {
  copyAt,
  dealOf,
  dealStatus,
  enrol,
  enrolled,
  NORTH,
  place,
  placedFile,
  reconcile,
  SOUTH,
  unreconciled,
} from './placing.ts'

/** Uploads whose pieces provers have before they are recorded. */
export function parkedUploadCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  const placement = (overrides: Partial<Placement> = {}): Placement => ({
    copiesWanted: 2,
    pieces: [{ pieceRoot: pieceRootOf('hello'), sizeBytes: 100, object: digestOf('hello'), offsetBytes: 0 }],
    parkedAt: [NORTH, SOUTH],
    ...overrides,
  })
  const halves = ['a', 'b'].map((word, index) => ({
    pieceRoot: pieceRootOf(word),
    sizeBytes: 50,
    object: digestOf('hello'),
    offsetBytes: index * 50,
  }))
  const unenrolled = (store: RecordStore) => store.placements.unenrolled({ after: 0, limit: 10 })

  for (const how of ['in two steps', 'at once']) {
    it(`records with an upload ${how} the copies that provers have`, async (store) => {
      const of = upload({ placement: placement({ pieces: halves }) })
      if (how === 'at once') expect(await commitAtOnce(store, of)).toMatchObject({ outcome: 'recorded' })
      else await stage(store, of)
      const [deal] = await store.placements.deals([1])
      const parked = { state: 'parked', attempts: 0, nextAt: NOW, parkedAt: NOW, endedAt: null }
      expect(deal).toMatchObject({
        copiesWanted: 2,
        status: 'proposed',
        statusAt: NOW,
        cause: null,
        pieces: halves.map(({ object, offsetBytes, ...piece }) => ({
          ...piece,
          source: { kind: 'object', object, offsetBytes },
          paddedOffsetBytes: null,
          copies: [NORTH, SOUTH].map((prover) => ({ ...parked, prover })),
        })),
      })
      expect(await unenrolled(store)).toEqual([])
      expect(await unreconciled(store)).toMatchObject(Array(2).fill({ copiesWanted: 2 }))
      expect(await store.placements.due({ state: 'parked', now: NOW, limit: 10 })).toHaveLength(4)
    })
  }

  it('leaves an upload without a placement to be enrolled', async (store) => {
    const { sequence } = await stage(store, upload())
    expect(await store.placements.deals([sequence])).toEqual([])
    expect(await unenrolled(store)).toHaveLength(1)
  })

  it('keeps the first placement in a retry', async (store) => {
    await commitAtOnce(store, upload({ placement: placement({ parkedAt: [NORTH] }) }))
    const again = upload({ placement: placement({ copiesWanted: 5, parkedAt: [SOUTH] }) })
    expect(await commitAtOnce(store, again)).toMatchObject({ outcome: 'retry' })
    const [deal] = await store.placements.deals([1])
    expect(deal).toMatchObject({ copiesWanted: 2, pieces: [{ copies: [{ prover: NORTH }] }] })
    expect(deal?.pieces[0]?.copies).toHaveLength(1)
  })

  it('places nothing when the upload is refused', async (store) => {
    const of = upload({ capBytes: 99, placement: placement() })
    expect(await commitAtOnce(store, of)).toMatchObject({ outcome: 'over_quota' })
    expect([await store.placements.deals([1]), await unreconciled(store)]).toEqual([[], []])
  })

  it('gives a prover no second copy of a piece that it has', async (store) => {
    const { file, piece, copy } = await placedFile(store, 'proved')
    const bobs = await stage(store, upload({ principal: BOB, placement: placement({ parkedAt: [NORTH] }) }))
    expect((await dealOf(store, bobs)).pieces).toMatchObject([{ id: piece, copies: [{ id: copy, state: 'stored' }] }])
    expect([await dealStatus(store, file), await dealStatus(store, bobs)]).toEqual(Array(2).fill(['active', 0]))
    expect(await unreconciled(store)).toMatchObject([{ copiesWanted: 2, copies: [{ id: copy }] }])
  })

  it('parks a copy that was yet to be sent', async (store) => {
    const { file, copy } = await placedFile(store, 'pending')
    await store.placements.retryLater({ copy, nextAt: NOW + 9 })
    await stage(store, upload({ principal: BOB, now: NOW + 1, placement: placement({ parkedAt: [NORTH] }) }))
    const parked = { id: copy, state: 'parked', attempts: 0, nextAt: NOW + 1, parkedAt: NOW + 1 }
    expect(await copyAt(store, file, NORTH)).toMatchObject(parked)
    expect(await dealStatus(store, file)).toEqual(['proposed', 1])
  })

  it('brings a deal back that had failed', async (store) => {
    const { file, piece } = await enrolled(store)
    await reconcile(store, { piece, failure: 'nobody' })
    await stage(store, upload({ principal: BOB, now: NOW + 1, placement: placement() }))
    expect(await dealStatus(store, file)).toEqual(['proposed', 1])
  })

  it('records a piece once that a file has twice', async (store) => {
    const [half] = halves
    if (half === undefined) throw new Error('two halves')
    const file = await stage(store, upload({ placement: placement({ pieces: [half, { ...half, offsetBytes: 50 }] }) }))
    const { pieces } = await dealOf(store, file)
    expect(pieces.map(({ id }) => id)).toEqual(Array(2).fill(pieces[0]?.id))
    expect(pieces[1]?.copies).toHaveLength(2)
    expect(await dealStatus(store, file)).toEqual(['proposed', 0])
  })

  itWithTwo('gives a prover one copy of a piece that two uploads bring', async (store, other) => {
    await Promise.all([
      commitAtOnce(store, upload({ placement: placement() })),
      commitAtOnce(other, upload({ principal: BOB, placement: placement() })),
    ])
    const deals = await other.placements.deals([1, 2])
    expect(deals.map(({ pieces }) => pieces[0]?.copies.length)).toEqual([2, 2])
    expect(deals[0]?.pieces[0]?.id).toBe(deals[1]?.pieces[0]?.id)
  })

  itAcrossRestart('keeps the placement with the file', async (store, restart) => {
    const file = await stage(store, upload({ placement: placement() }))
    const before = await dealOf(store, file)
    const again = await restart()
    expect(await dealOf(again, file)).toEqual(before)
    const other = await stage(again, upload({ content: 'other' }))
    const [piece = 0] = await enrol(again, other)
    await place(again, { file: other, piece, prover: NORTH, as: 'parked' })
  })
}
