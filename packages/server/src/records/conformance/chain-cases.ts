import { expect } from 'vitest'
import type { TransactionState } from '../record-store.ts'
import { ALICE, BOB, type Cases, NOW, pieceRootOf, times, WEEK } from './case.ts'
import { dealOf, enrolled, NORTH, place, placedFile, SOUTH } from './placing.ts'
import {
  ACCOUNT,
  ALL_STATES,
  attempt,
  BLOCK,
  CONTRACT,
  FAIL_FROM,
  final,
  mined,
  onchain,
  parkedCopies,
  propose,
  proposed,
  queue,
  queued,
  transaction,
  transactionOf,
  transactions,
} from './proposing.ts'

export function chainCases({ it, itWithTwo, itAcrossRestart, itBroken }: Cases): void {
  it('queues a deal for every copy that a prover holds, once, and for none that it does not hold', async (store) => {
    const pending = await placedFile(store, 'pending', { content: 'pending' })
    const parked = await placedFile(store, 'parked', { content: 'parked' })
    const adding = await placedFile(store, 'adding', { content: 'adding' })
    const stored = await placedFile(store, 'stored', { content: 'stored' })
    const lost = await placedFile(store, 'stored', { content: 'lost' })
    await store.placements.fail({ copy: lost.copy, cause: 'lost', now: NOW })
    const south = await place(store, { ...parked, prover: SOUTH, as: 'parked' })
    expect(await queue(store)).toBe(3)
    expect(await queue(store)).toBe(0)
    expect(await queued(store)).toEqual([parked.copy, adding.copy, stored.copy])
    expect(await store.chain.dealsOf([south.id, pending.copy])).toEqual([])
    await store.placements.parked({ copy: pending.copy, now: NOW })
    expect(await queue(store, [SOUTH, NORTH])).toBe(2)
    expect(await store.chain.queueDeals({ provers: [], limit: 100 })).toBe(0)
  })

  it('queues no more at each prover than it is asked to', async (store) => {
    await parkedCopies(store, 3)
    expect(await store.chain.queueDeals({ provers: [NORTH], limit: 2 })).toBe(2)
    expect(await store.chain.queueDeals({ provers: [NORTH], limit: 2 })).toBe(1)
  })

  it('says what a proposal needs, the oldest first', async (store) => {
    const { file, copy } = await placedFile(store, 'parked', { content: 'hello', sizeBytes: 300 })
    await placedFile(store, 'parked', { content: 'hello', sizeBytes: 300, principal: BOB, expiresAt: NOW + 2 * WEEK })
    const [other = 0] = await parkedCopies(store, 1)
    await queue(store)
    const [first] = await store.chain.queued({ provers: [NORTH], now: NOW, limit: 1 })
    const pieceRoot = pieceRootOf('hello')
    const neededUntil = NOW + 2 * WEEK
    expect(first).toEqual({ copy, prover: NORTH, pieceRoot, pieceSizeBytes: 300, neededUntil, reverts: 0 })
    expect(await queued(store)).toEqual([copy, other])
    expect(await store.chain.queued({ provers: [SOUTH], now: NOW, limit: 9 })).toEqual([])
    expect(await queued(store, NOW + 2 * WEEK)).toEqual([])
    await store.files.remove({ principal: BOB, key: file.key, now: NOW })
    expect(await queued(store, NOW + WEEK)).toEqual([])
    expect(await queued(store, NOW + WEEK - 1)).toEqual([copy, other])
  })

  it('fails a queued deal whose copy has ended', async (store) => {
    const [one = 0, two = 0] = await parkedCopies(store, 2)
    await queue(store)
    await store.placements.fail({ copy: one, cause: 'lost', now: NOW })
    expect(await queued(store)).toEqual([two])
    expect(await propose(store, 0, [one, two])).toBe(false)
    await queue(store)
    expect(await onchain(store, [one, two])).toEqual(['failed', 'queued'])
    expect(await transactions(store)).toEqual([])
  })

  it('records a transaction with its nonce and signed form before anybody knows of it', async (store) => {
    const { copies, id } = await proposed(store, 2)
    expect(await transactions(store)).toEqual([
      {
        id,
        account: ACCOUNT,
        nonce: 0,
        call: '{"nonce":0}',
        state: 'open',
        succeeded: null,
        blockNumber: null,
        blockHash: null,
        attempts: [attempt('transaction 0')],
        createdAt: NOW,
      },
    ])
    const deal = {
      prover: NORTH,
      state: 'proposing',
      transaction: id,
      contract: CONTRACT,
      onchainId: null,
      endsAt: null,
      reverts: 0,
    }
    expect(await store.chain.dealsOf(copies)).toEqual(copies.map((copy, position) => ({ ...deal, copy, position })))
    expect(await queued(store)).toEqual([])
  })

  it('proposes a deal in one transaction at a time, and uses a nonce of an account once', async (store) => {
    const { copies } = await proposed(store, 1)
    expect(await propose(store, 1, copies)).toBe(false)
    expect(await store.chain.record(transaction(0))).toBe(false)
    expect(await store.chain.record(transaction(0, '0x01'))).toBe(true)
    expect(await store.chain.record(transaction(5))).toBe(true)
    expect((await transactions(store)).map(({ nonce }) => nonce)).toEqual([0, 5])
  })

  it('knows the nonce after the highest that was ever recorded', async (store) => {
    expect(await store.chain.nextNonce(ACCOUNT)).toBeUndefined()
    await store.chain.record(transaction(5))
    await store.chain.record(transaction(3))
    expect(await store.chain.nextNonce(ACCOUNT)).toBe(6)
    expect(await store.chain.nextNonce('0x01')).toBeUndefined()
    await store.chain.superseded({ transaction: (await transactionOf(store, 5)).id })
    expect(await store.chain.nextNonce(ACCOUNT)).toBe(6)
  })

  it('lists transactions by nonce, from one on and in the states that are asked for', async (store) => {
    for (const nonce of [4, 2, 3]) await store.chain.record(transaction(nonce))
    await mined(store, (await transactionOf(store, 2)).id, { isConfirmed: false })
    await mined(store, (await transactionOf(store, 3)).id)
    const nonces = async (of: readonly TransactionState[], fromNonce = 0, limit = 9) =>
      (await store.chain.transactions({ account: ACCOUNT, states: of, fromNonce, limit })).map(({ nonce }) => nonce)
    expect(await nonces(['open'])).toEqual([4])
    expect(await nonces(['mined'])).toEqual([2])
    expect(await nonces(['mined', 'confirmed'])).toEqual([2, 3])
    expect(await nonces(['open', 'mined', 'confirmed'], 3)).toEqual([3, 4])
    expect(await nonces(ALL_STATES, 0, 2)).toEqual([2, 3])
    await final(store, (await transactionOf(store, 2)).id)
    expect(await nonces(['open', 'mined', 'confirmed'])).toEqual([3, 4])
    expect(await nonces(['final'])).toEqual([2])
  })

  it('keeps every attempt, oldest first, each once, and takes none for a transaction in a block', async (store) => {
    const { id } = await proposed(store, 1)
    const higher = attempt('higher')
    expect(await store.chain.addAttempt({ transaction: id, attempt: higher })).toBe(true)
    expect(await store.chain.addAttempt({ transaction: id, attempt: higher })).toBe(true)
    expect(await store.chain.addAttempt({ transaction: id, attempt: attempt('transaction 0') })).toBe(true)
    await mined(store, id)
    expect(await store.chain.addAttempt({ transaction: id, attempt: attempt('late') })).toBe(false)
    expect((await transactionOf(store, 0)).attempts).toEqual([attempt('transaction 0'), higher])
  })

  it('gives deals their ids and ends in order, and calls them confirmed when the block is old enough', async (store) => {
    const { copies, id } = await proposed(store, 2)
    await mined(store, id, { isConfirmed: false })
    expect(await onchain(store, copies)).toEqual([
      ['proposing', '41'],
      ['proposing', '42'],
    ])
    expect(await transactionOf(store, 0)).toMatchObject({ state: 'mined', succeeded: true, ...BLOCK })
    await mined(store, id)
    expect(await transactionOf(store, 0)).toMatchObject({ state: 'confirmed', succeeded: true, ...BLOCK })
    expect(await store.chain.dealsOf([...copies].reverse())).toMatchObject([
      { state: 'confirmed', onchainId: '42', endsAt: NOW + 2 },
      { state: 'confirmed', onchainId: '41', endsAt: NOW + 1 },
    ])
  })

  it('follows a transaction into another block, and out of all of them', async (store) => {
    const { copies, id } = await proposed(store, 1)
    await mined(store, id)
    await mined(store, id, { blockHash: '0xother', dealIds: ['77'] })
    expect(await onchain(store, copies)).toEqual([['confirmed', '77']])
    await store.chain.reorganised({ transaction: id, blockHash: BLOCK.blockHash })
    expect(await onchain(store, copies), 'it was another block that went').toEqual([['confirmed', '77']])
    await store.chain.reorganised({ transaction: id, blockHash: '0xother' })
    expect(await onchain(store, copies)).toEqual(['proposing'])
    expect(await store.chain.dealsOf(copies)).toMatchObject([{ endsAt: null, transaction: id, position: 0 }])
    expect(await transactionOf(store, 0)).toMatchObject({ state: 'open', succeeded: null, blockHash: null })
  })

  it('settles a transaction only in the block that is recorded, and then for good', async (store) => {
    const { copies, id } = await proposed(store, 1)
    expect(await final(store, id)).toBe(false)
    await mined(store, id)
    expect(await final(store, id, '0xother')).toBe(false)
    expect(await final(store, id)).toBe(true)
    expect(await final(store, id)).toBe(false)
    await mined(store, id, { blockHash: '0xother', dealIds: ['77'] })
    await store.chain.reorganised({ transaction: id, blockHash: BLOCK.blockHash })
    expect(await store.chain.superseded({ transaction: id })).toBe(false)
    expect(await onchain(store, copies)).toEqual([['final', '41']])
    expect(await transactionOf(store, 0)).toMatchObject({ state: 'final', ...BLOCK })
  })

  it('queues the deals of an undone transaction again when that is settled, until there were too many', async (store) => {
    const { copies } = await proposed(store, 2)
    for (const reverts of times(FAIL_FROM, (index) => index + 1)) {
      const { id } = await transactionOf(store, reverts - 1)
      await mined(store, id, { succeeded: false, dealIds: [] })
      expect(await onchain(store, copies)).toEqual(['proposing', 'proposing'])
      await final(store, id)
      const state = reverts === FAIL_FROM ? 'failed' : 'queued'
      expect(await store.chain.dealsOf(copies)).toMatchObject(
        copies.map((copy) => ({
          copy,
          state,
          reverts,
          transaction: null,
          position: null,
          contract: null,
          onchainId: null,
        })),
      )
      expect(await propose(store, reverts, copies)).toBe(reverts < FAIL_FROM)
    }
  })

  it('queues the deals of a transaction again whose nonce another one has', async (store) => {
    const { copies, id } = await proposed(store, 2)
    expect(await store.chain.superseded({ transaction: id })).toBe(true)
    expect(await store.chain.superseded({ transaction: id })).toBe(false)
    expect(await onchain(store, copies)).toEqual(['queued', 'queued'])
    expect(await store.chain.dealsOf(copies)).toMatchObject([{ reverts: 0 }, { reverts: 0 }])
    expect(await transactionOf(store, 0)).toMatchObject({ state: 'final', succeeded: null, blockHash: null })
    await mined(store, id)
    expect(await onchain(store, copies)).toEqual(['queued', 'queued'])
  })

  it('finds the file that a deal is about from its confirmation on, for its principal', async (store) => {
    const { file, copy } = await placedFile(store, 'parked', { content: 'hello' })
    await queue(store)
    await propose(store, 0, [copy])
    const { id } = await transactionOf(store, 0)
    await mined(store, id, { isConfirmed: false })
    const found = (onchainId: string, principal = ALICE) => store.chain.fileOf({ principal, onchainId })
    const idOf = async () => (await store.placements.statuses([file.sequence]))[0]?.onchainDealId
    expect([await found('41'), await idOf()]).toEqual([undefined, null])
    await mined(store, id)
    expect([await found('41'), await idOf()]).toEqual([file.sequence, '41'])
    expect(await store.placements.deals([file.sequence])).toMatchObject([{ onchainDealId: '41' }])
    expect(await found('41', BOB)).toBeUndefined()
    expect(await found('42')).toBeUndefined()
    await store.files.remove({ principal: ALICE, key: file.key, now: NOW })
    expect(await found('41'), 'a file that has ended').toBe(file.sequence)
    const again = await enrolled(store, { content: 'hello' })
    expect(await found('41'), 'staged again').toBe(again.file.sequence)
  })

  it('leaves the deals of files alone: their status is that of their copies', async (store) => {
    const { file, copy } = await placedFile(store, 'proved', { content: 'hello' })
    await queue(store)
    await propose(store, 0, [copy])
    await mined(store, (await transactionOf(store, 0)).id)
    expect((await dealOf(store, file)).status).toBe('active')
  })

  itWithTwo('lets one of two handles propose a deal, and have a nonce', async (store, other) => {
    const copies = await parkedCopies(store, 4)
    await Promise.all([queue(store), queue(other)])
    expect(await queued(other)).toEqual(copies)
    const handles = [store, other]
    for (const [index, copy] of copies.entries()) {
      const outcomes = await Promise.all(handles.map((handle, by) => propose(handle, 10 * by + index, [copy])))
      expect(outcomes.toSorted()).toEqual([false, true])
    }
    const nonces = await Promise.all(handles.map((handle) => handle.chain.record(transaction(99))))
    expect(nonces.toSorted()).toEqual([false, true])
  })

  itAcrossRestart('keeps transactions, attempts and deals', async (store, restart) => {
    const { copies, id } = await proposed(store, 2)
    await store.chain.addAttempt({ transaction: id, attempt: attempt('higher') })
    await mined(store, id)
    const before = [await transactions(store), await store.chain.dealsOf(copies)]
    const again = await restart()
    expect([await transactions(again), await again.chain.dealsOf(copies)]).toEqual(before)
    expect(await again.chain.nextNonce(ACCOUNT)).toBe(1)
  })

  itBroken('error: a broken medium is storage_failed, and never an empty queue', async (store, breakNow) => {
    await proposed(store, 1)
    breakNow()
    const failed = { code: 'storage_failed' }
    await expect(store.chain.nextNonce(ACCOUNT)).rejects.toMatchObject(failed)
    await expect(store.chain.record(transaction(7))).rejects.toMatchObject(failed)
  })
}
