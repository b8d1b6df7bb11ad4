import { expect } from 'vitest'
import type { EscrowChange, RecordStore } from '../record-store.ts'
import { type Cases, NOW } from './case.ts'
import { dealOf, placedFile, reconcile } from './placing.ts'
import {
  ACCOUNT,
  BLOCK,
  CONTRACT,
  final,
  mined,
  propose,
  proposed,
  queue,
  transaction,
  transactionOf,
} from './proposing.ts'

const OTHER = 'eip155:31337:0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const HOUR = 3_600_000
const NO_BOND = { bondMicroUsdc: 0, bondReleasedMicroUsdc: 0, bondForfeitedMicroUsdc: 0 }

export function escrowCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  const apply = (store: RecordStore, changes: readonly EscrowChange[], after: number | undefined, to: number) =>
    store.escrow.apply({ contract: CONTRACT, after, to, changes, now: NOW })
  const due = (store: RecordStore, now = NOW, limit = 9) => store.escrow.due({ contract: CONTRACT, now, limit })
  const find = (store: RecordStore, ...onchainIds: string[]) =>
    store.escrow.find(onchainIds.map((onchainId) => ({ contract: CONTRACT, onchainId })))
  const proposal = (onchainId: string, microUsdc = 10) => ({ onchainId, kind: 'proposed', microUsdc }) as const
  const recover = (store: RecordStore, nonce: number, onchainId = '41', contract = CONTRACT) =>
    store.chain.record({ ...transaction(nonce), recovers: { contract, onchainId } })

  it('counts the events of blocks once, in their order, of deals that are known', async (store) => {
    expect(await store.escrow.scannedTo(CONTRACT)).toBeUndefined()
    expect(await apply(store, [proposal('41'), proposal('42', 20)], undefined, 5)).toBe(true)
    expect(await apply(store, [proposal('43')], undefined, 9), 'that is counted').toBe(false)
    const changes: readonly EscrowChange[] = [
      { onchainId: '41', kind: 'accepted', endsAt: NOW + 100, bondMicroUsdc: 8 },
      { onchainId: '41', kind: 'extended', extraMs: 50, microUsdc: 5 },
      { onchainId: '41', kind: 'paidOut', microUsdc: 4, bondMicroUsdc: 5 },
      { onchainId: '41', kind: 'returned', microUsdc: 1, bondMicroUsdc: 2 },
      { onchainId: '42', kind: 'withdrawn', microUsdc: 20 },
      { onchainId: '99', kind: 'paidOut', microUsdc: 1_000, bondMicroUsdc: 0 },
    ]
    expect(await apply(store, changes, 5, 9)).toBe(true)
    expect(await apply(store, changes, 5, 9)).toBe(false)
    expect(await store.escrow.scannedTo(CONTRACT)).toBe(9)
    expect(await store.escrow.scannedTo(OTHER)).toBeUndefined()
    const bond = { bondMicroUsdc: 8, bondReleasedMicroUsdc: 5, bondForfeitedMicroUsdc: 2 }
    const active = { contract: CONTRACT, onchainId: '41', state: 'active', endsAt: NOW + 150, paidInMicroUsdc: 15 }
    const withdrawn = { contract: CONTRACT, onchainId: '42', state: 'withdrawn', endsAt: null, paidInMicroUsdc: 20 }
    expect(await find(store, '42', '99', '41')).toEqual([
      { ...withdrawn, paidOutMicroUsdc: 0, returnedMicroUsdc: 20, ...NO_BOND },
      { ...active, paidOutMicroUsdc: 4, returnedMicroUsdc: 1, ...bond },
    ])
    expect(await store.escrow.totals([CONTRACT])).toEqual({
      deals: [
        { state: 'active', count: 1 },
        { state: 'withdrawn', count: 1 },
      ],
      paidInMicroUsdc: 35,
      paidOutMicroUsdc: 4,
      returnedMicroUsdc: 21,
      ...bond,
    })
    expect(await store.escrow.totals([OTHER])).toMatchObject({ deals: [], paidInMicroUsdc: 0 })
  })

  it('has deals read when their time has come, and never when nothing is left', async (store) => {
    await apply(store, [proposal('41'), proposal('42')], undefined, 5)
    const first = { onchainId: '41', state: 'proposed', finalState: 'proposed', isNeeded: true, heldMicroUsdc: 10 }
    expect(await due(store)).toMatchObject([{ ...first, failures: 0 }, { onchainId: '42' }])
    const read = { contract: CONTRACT, onchainId: '41', now: NOW }
    await store.escrow.checked({ ...read, state: 'active', nextAt: NOW + 7 })
    expect(await due(store, NOW + 6)).toMatchObject([{ onchainId: '42' }])
    expect(await due(store, NOW + 7, 1)).toMatchObject([{ onchainId: '42' }])
    expect(await due(store, NOW + 7)).toMatchObject([{}, { onchainId: '41', state: 'active', finalState: 'proposed' }])
    await store.escrow.checked({ ...read, state: 'settled', nextAt: null })
    expect(await due(store, NOW + 1_000_000)).toMatchObject([{ onchainId: '42' }])
    expect(await recover(store, 1), 'nothing is left').toBe(false)
  })

  it('has one transaction about a deal at a time, and tries again later when it was undone', async (store) => {
    await apply(store, [proposal('41')], undefined, 5)
    expect(await recover(store, 0, '41', OTHER), 'another contract').toBe(false)
    expect(await recover(store, 0)).toBe(true)
    expect(await recover(store, 1)).toBe(false)
    expect(await due(store)).toEqual([])
    await store.chain.superseded({ transaction: (await transactionOf(store, 0)).id })
    expect(await due(store)).toMatchObject([{ onchainId: '41', failures: 0 }])
    for (const [failures, hours] of [1, 2, 4].entries()) {
      const nonce = failures + 1
      expect(await recover(store, nonce)).toBe(true)
      const { id } = await transactionOf(store, nonce)
      await mined(store, id, { succeeded: false, dealIds: [], endsAt: [] })
      expect(await due(store), 'it is not settled').toEqual([])
      await final(store, id)
      expect(await due(store, NOW + hours * HOUR - 1)).toEqual([])
      expect(await due(store, NOW + hours * HOUR)).toMatchObject([{ failures: failures + 1 }])
    }
    await recover(store, 9)
    const { id } = await transactionOf(store, 9)
    await mined(store, id, { dealIds: [], endsAt: [] })
    await final(store, id, BLOCK.blockHash, NOW + 5)
    expect(await due(store, NOW + 5)).toMatchObject([{ onchainId: '41', failures: 0 }])
  })

  it('has a proposed deal withdrawn whose copy has ended, before its time', async (store) => {
    const { copies, id } = await proposed(store, 2)
    await mined(store, id)
    await final(store, id)
    await apply(store, [proposal('41'), proposal('42')], undefined, 5)
    for (const onchainId of ['41', '42']) {
      await store.escrow.checked({
        contract: CONTRACT,
        onchainId,
        state: 'proposed',
        nextAt: NOW + HOUR,
        now: NOW,
      })
    }
    expect(await due(store)).toEqual([])
    await store.placements.fail({ copy: copies[1] ?? 0, cause: 'lost', now: NOW })
    expect(await due(store)).toMatchObject([{ onchainId: '42', isNeeded: false }])
    await store.escrow.checked({
      contract: CONTRACT,
      onchainId: '42',
      state: 'active',
      nextAt: NOW + HOUR,
      now: NOW,
    })
    expect(await due(store)).toEqual([])
  })

  it('calls the deal of a file active only while the chain says that its prover has accepted it', async (store) => {
    const { file, copy } = await placedFile(store, 'proved', { content: 'hello' })
    await queue(store)
    await propose(store, 0, [copy])
    const { id } = await transactionOf(store, 0)
    await mined(store, id)
    await final(store, id)
    const status = async () => (await dealOf(store, file)).status
    const read = (state: 'proposed' | 'active' | 'withdrawn') =>
      store.escrow.checked({ contract: CONTRACT, onchainId: '41', state, nextAt: NOW, now: NOW })
    await apply(store, [proposal('41')], undefined, 5)
    expect(await status(), 'nobody has looked').toBe('active')
    await read('proposed')
    expect(await status()).toBe('proposed')
    await read('active')
    expect(await status()).toBe('active')
    await apply(store, [{ onchainId: '41', kind: 'withdrawn', microUsdc: 10 }], 5, 6)
    expect(await status()).toBe('proposed')
  })

  it('has a deal read once when its copy ends, however', async (store) => {
    const files = [0, 1, 2].map((index) => placedFile(store, 'parked', { content: `file ${index}` }))
    const placed = await Promise.all(files)
    await queue(store)
    await propose(
      store,
      0,
      placed.map(({ copy }) => copy),
    )
    const { id } = await transactionOf(store, 0)
    await mined(store, id)
    await final(store, id)
    const ids = ['41', '42', '43']
    const accepted = (onchainId: string) =>
      [proposal(onchainId), { onchainId, kind: 'accepted', endsAt: NOW + HOUR, bondMicroUsdc: 0 }] as const
    await apply(store, ids.flatMap(accepted), undefined, 5)
    const read = { contract: CONTRACT, state: 'active', nextAt: NOW + HOUR, now: NOW } as const
    for (const onchainId of ids) await store.escrow.checked({ ...read, onchainId })
    expect(await due(store)).toEqual([])
    await store.placements.fail({ copy: placed[1]?.copy ?? 0, cause: 'lost', now: NOW })
    expect(await due(store)).toMatchObject([{ onchainId: '42', isNeeded: false, state: 'active' }])
    await store.escrow.checked({ ...read, onchainId: '42' })
    expect(await due(store), 'it is not worth it').toEqual([])
    await reconcile(store, { piece: placed[2]?.piece ?? 0, release: [placed[2]?.copy ?? 0] })
    expect(await due(store)).toMatchObject([{ onchainId: '43', isNeeded: false }])
    await apply(store, [{ onchainId: '43', kind: 'ending', endsAt: NOW + 9 }], 5, 6)
    expect(await find(store, '43')).toMatchObject([{ state: 'ending', endsAt: NOW + 9 }])
    expect(await due(store)).toMatchObject([{ onchainId: '43', state: 'ending', finalState: 'ending' }])
    const short = { endsAfter: 0, endsBefore: NOW + 1_000_000, limit: 9 }
    expect((await store.chain.tooShort(short)).deals).toMatchObject([{ onchainId: '41' }])
    await store.escrow.checked({ ...read, onchainId: '41', state: 'settled', nextAt: null })
    await store.placements.fail({ copy: placed[0]?.copy ?? 0, cause: 'lost', now: NOW })
    expect(await due(store), 'nothing is left of it').toMatchObject([{ onchainId: '43' }])
  })

  it('knows a deal by its contract as well as its number: the same number elsewhere is another deal', async (store) => {
    const { file, copy } = await placedFile(store, 'proved', { content: 'hello' })
    await queue(store)
    await propose(store, 0, [copy])
    const { id } = await transactionOf(store, 0)
    await mined(store, id)
    await final(store, id)
    expect(await store.chain.dealsOf([copy])).toMatchObject([{ contract: CONTRACT, onchainId: '41' }])
    const proposals = [proposal('41')]
    await apply(store, proposals, undefined, 5)
    await store.escrow.apply({ contract: OTHER, after: undefined, to: 5, changes: proposals, now: NOW })
    await store.escrow.checked({
      contract: CONTRACT,
      onchainId: '41',
      state: 'active',
      nextAt: NOW + HOUR,
      now: NOW,
    })
    await store.escrow.checked({
      contract: OTHER,
      onchainId: '41',
      state: 'withdrawn',
      nextAt: null,
      now: NOW,
    })
    expect((await dealOf(store, file)).status, 'of its own deal').toBe('active')
    const short = { endsAfter: 0, endsBefore: NOW + 1_000_000 }
    expect((await store.chain.tooShort({ ...short, limit: 9 })).deals).toMatchObject([{ contract: CONTRACT, copy }])
    const named = [OTHER, CONTRACT].map((contract) => ({ contract, onchainId: '41' }))
    expect(await store.escrow.find(named)).toMatchObject([{ state: 'withdrawn' }, { state: 'active' }])
    expect((await store.escrow.totals([CONTRACT, OTHER])).paidInMicroUsdc).toBe(20)
    await store.escrow.checked({
      contract: OTHER,
      onchainId: '41',
      state: 'proposed',
      nextAt: NOW + HOUR,
      now: NOW,
    })
    await store.placements.fail({ copy, cause: 'lost', now: NOW })
    expect(await store.escrow.due({ contract: OTHER, now: NOW, limit: 9 }), 'whose copy has not ended').toEqual([])
  })

  it('keeps the payments of a day within its budget', async (store) => {
    const { copies } = await proposed(store, 1)
    const budget = { from: NOW - 10, to: NOW + 10, microUsdc: 100 }
    const pay = (nonce: number, paymentMicroUsdc: number, now = NOW) =>
      store.chain.record({ ...transaction(nonce), paymentMicroUsdc, budget, now })
    const spent = (from = budget.from, to = budget.to) => store.escrow.spent({ account: ACCOUNT, from, to })
    expect(await pay(1, 60)).toBe(true)
    expect(await pay(2, 41)).toBe(false)
    expect(await propose(store, 2, copies, { paymentMicroUsdc: 41, budget })).toBe(false)
    expect(await pay(2, 40)).toBe(true)
    expect(await pay(3, 0), 'what costs nothing').toBe(true)
    expect(await spent()).toBe(100)
    expect(await spent(NOW + 1, NOW + 10)).toBe(0)
    expect(await store.escrow.spent({ account: OTHER, from: 0, to: NOW + 10 })).toBe(0)
    const { id } = await transactionOf(store, 1)
    await mined(store, id, { succeeded: false, dealIds: [], endsAt: [] })
    expect(await spent(), 'it could still succeed').toBe(100)
    await final(store, id)
    await store.chain.superseded({ transaction: (await transactionOf(store, 3)).id })
    expect(await spent()).toBe(40)
    expect(await pay(4, 60)).toBe(true)
  })

  itWithTwo('counts events once for two handles, and gives one of them a budget', async (store, other) => {
    const handles = [store, other]
    const applied = await Promise.all(handles.map((handle) => apply(handle, [proposal('41')], undefined, 5)))
    expect(applied.toSorted()).toEqual([false, true])
    const budget = { from: NOW, to: NOW + 10, microUsdc: 10 }
    const paid = await Promise.all(
      handles.map((handle, nonce) => handle.chain.record({ ...transaction(nonce), paymentMicroUsdc: 6, budget })),
    )
    expect(paid.toSorted()).toEqual([false, true])
    const recovered = await Promise.all(handles.map((handle, index) => recover(handle, 10 + index)))
    expect(recovered.toSorted()).toEqual([false, true])
  })

  itAcrossRestart('keeps what is counted', async (store, restart) => {
    await apply(
      store,
      [proposal('41'), { onchainId: '41', kind: 'accepted', endsAt: NOW + 9, bondMicroUsdc: 0 }],
      undefined,
      5,
    )
    const before = await find(store, '41')
    const again = await restart()
    expect(await find(again, '41')).toEqual(before)
    expect(await again.escrow.scannedTo(CONTRACT)).toBe(5)
    expect(await due(again)).toHaveLength(1)
  })
}
