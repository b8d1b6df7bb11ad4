import { expect } from 'vitest'
import type { NewPiece, RecordStore } from '../record-store.ts'
import { type Cases, digestOf, HOUR, NOW, pieceRootOf, times } from './case.ts'

export function offerCases({ it, itAcrossRestart, itBroken }: Cases): void {
  const PIECE = { pieceRoot: pieceRootOf('hello'), sizeBytes: 100 }
  const HELLO = { object: digestOf('hello'), offsetBytes: 0 }
  const open = (store: RecordStore, id: string, overrides: Partial<NewPiece & { until: number }> = {}) =>
    store.offers.open({ id, ...PIECE, ...HELLO, until: NOW + HOUR, ...overrides })
  const find = (store: RecordStore, now = NOW, piece = PIECE) => store.offers.find({ ...piece, now })

  it('finds the bytes of a piece that is offered, by its root and size, until its time', async (store) => {
    expect(await find(store)).toBeUndefined()
    await open(store, 'one')
    expect(await find(store)).toEqual(HELLO)
    expect(await find(store, NOW + HOUR - 1)).toEqual(HELLO)
    expect(await find(store, NOW + HOUR)).toBeUndefined()
    expect(await find(store, NOW, { ...PIECE, sizeBytes: 101 })).toBeUndefined()
    const [head, tail] = [PIECE.pieceRoot.slice(0, 12), PIECE.pieceRoot.slice(12)]
    const similar = `${head}${tail.replace(/./g, (digit) => (digit === '0' ? '1' : '0'))}`
    expect(await find(store, NOW, { ...PIECE, pieceRoot: similar })).toBeUndefined()
  })

  it('offers a piece until the last of its offers is closed', async (store) => {
    await open(store, 'one')
    const slice = { object: digestOf('elsewhere'), offsetBytes: 40 }
    await open(store, 'two', { ...slice, until: NOW + 1 })
    expect(await find(store)).toEqual(HELLO)
    await store.offers.close('one')
    expect(await find(store)).toEqual(slice)
    await store.offers.close('two')
    await store.offers.close('two')
    expect(await find(store)).toBeUndefined()
  })

  it('opens an offer again for longer', async (store) => {
    await open(store, 'one', { until: NOW + 1 })
    await open(store, 'one', { until: NOW + 9 })
    expect(await find(store, NOW + 8)).toEqual(HELLO)
    await store.offers.close('one')
    expect(await find(store)).toBeUndefined()
  })

  it('forgets offers past their time and no others', async (store) => {
    await open(store, 'old', { until: NOW })
    await open(store, 'new', { until: NOW + 1 })
    await store.offers.expire({ now: NOW })
    expect(await find(store, NOW - 1)).toEqual(HELLO)
    await store.offers.close('new')
    expect(await find(store, NOW - 1)).toBeUndefined()
  })

  itAcrossRestart('keeps offers', async (store, restart) => {
    await open(store, 'one')
    expect(await find(await restart())).toEqual(HELLO)
  })

  itBroken('error: a broken medium is storage_failed, and never no offer', async (store, breakNow) => {
    await open(store, 'one')
    breakNow()
    await expect(find(store)).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(open(store, 'two')).rejects.toMatchObject({ code: 'storage_failed' })
  })
}

export function leaseCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  const fenceOf = (store: RecordStore, holder: string, now = NOW, name = 'placement') =>
    store.leases.take({ name, holder, now, until: now + HOUR })
  const take = async (...request: Parameters<typeof fenceOf>) => (await fenceOf(...request)) !== undefined

  it('gives a lease to one holder, who can take it again', async (store) => {
    expect(await take(store, 'a')).toBe(true)
    expect(await take(store, 'b')).toBe(false)
    expect(await take(store, 'a', NOW + 1)).toBe(true)
    expect(await take(store, 'b', NOW + 1, 'another')).toBe(true)
  })

  it('gives it to another when it has run out, counted from when it was last taken', async (store) => {
    await take(store, 'a')
    await take(store, 'a', NOW + 1)
    expect(await take(store, 'b', NOW + HOUR)).toBe(false)
    expect(await take(store, 'b', NOW + HOUR + 1)).toBe(true)
    expect(await take(store, 'a', NOW + HOUR + 1)).toBe(false)
  })

  it('is free when its holder gives it back, and not when somebody else does', async (store) => {
    await take(store, 'a')
    await store.leases.giveBack({ name: 'placement', holder: 'b' })
    expect(await take(store, 'b')).toBe(false)
    await store.leases.giveBack({ name: 'placement', holder: 'a' })
    expect(await take(store, 'b')).toBe(true)
  })

  itWithTwo('gives a lease to one of 20 who ask at once', async (store, other) => {
    const taken = await Promise.all(times(20, (index) => take(index % 2 === 0 ? store : other, `holder ${index}`)))
    expect(taken.filter((isTaken) => isTaken)).toHaveLength(1)
    const late = await Promise.all(
      times(20, (index) => take(index % 2 === 0 ? store : other, `late ${index}`, NOW + HOUR)),
    )
    expect(late.filter((isTaken) => isTaken)).toHaveLength(1)
  })

  it('gives each holder a fence of its own, also after one has given the lease back', async (store) => {
    const first = await fenceOf(store, 'a')
    expect(await fenceOf(store, 'a', NOW + 1)).toEqual(first)
    const second = await fenceOf(store, 'b', NOW + HOUR + 1)
    await store.leases.giveBack({ name: 'placement', holder: 'b' })
    const third = await fenceOf(store, 'a', NOW + HOUR + 2)
    const numbers = [first, second, third].map((fence) => fence?.number ?? 0)
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other))
    expect(new Set(numbers).size).toBe(3)
  })

  itWithTwo('lets no change through under a lease that is somebody else’s by now', async (store, other) => {
    const mine = await fenceOf(store, 'a')
    const underLease = store.underLease(() => mine)
    await underLease.inventory.setMark({ name: 'walk', value: 'mine' })
    await fenceOf(other, 'b', NOW + HOUR + 1)
    const late = underLease.inventory.setMark({ name: 'walk', value: 'late' })
    await expect(late).rejects.toMatchObject({ code: 'storage_failed' })
    const never = store.underLease(() => undefined).inventory.setMark({ name: 'walk', value: 'never' })
    await expect(never).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await underLease.inventory.mark('walk')).toBe('mine')
    await store.inventory.setMark({ name: 'walk', value: 'of all' })
    expect(await other.inventory.mark('walk')).toBe('of all')
  })

  itAcrossRestart('keeps leases', async (store, restart) => {
    await take(store, 'a')
    expect(await take(await restart(), 'b')).toBe(false)
  })
}
