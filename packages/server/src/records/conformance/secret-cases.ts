import { expect } from 'vitest'
import { type Cases, digestOf, NOW, reserve, stage, stageAndRemove, times, upload } from './case.ts'

export function secretCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  it('knows none at first, and keeps what is offered first', async ({ secrets }) => {
    expect(await secrets.find('key')).toBeUndefined()
    expect(await secrets.offer({ name: 'key', value: 'one' })).toBe('one')
    expect(await secrets.offer({ name: 'key', value: 'two' })).toBe('one')
    expect(await secrets.find('key')).toBe('one')
    expect(await secrets.find('another')).toBeUndefined()
  })

  it('replaces one, known or not', async ({ secrets }) => {
    await secrets.replace({ name: 'key', value: 'one' })
    await secrets.replace({ name: 'key', value: 'two' })
    expect(await secrets.find('key')).toBe('two')
  })

  itWithTwo('gives all who offer at once the same one', async (store, other) => {
    const kept = await Promise.all(
      times(20, (index) => (index % 2 === 0 ? store : other).secrets.offer({ name: 'key', value: `${index}` })),
    )
    expect(new Set(kept).size).toBe(1)
    expect(await other.secrets.find('key')).toBe(kept[0])
  })

  itAcrossRestart('keeps them', async (store, restart) => {
    await store.secrets.offer({ name: 'key', value: 'one' })
    expect(await (await restart()).secrets.find('key')).toBe('one')
  })
}

export function inventoryCases({ it }: Cases): void {
  const digests = (stored: readonly { sha256: string }[]) => stored.map(({ sha256 }) => sha256)

  it('lists what objects have in the blob store, by digest, in pages', async (store) => {
    for (const content of ['one', 'two', 'three', 'four']) await stage(store, upload({ content, capBytes: 1e6 }))
    await stage(store, upload({ content: 'small', capBytes: 1e6, inline: new Uint8Array(100) }))
    await stageAndRemove(store, upload({ content: 'gone', capBytes: 1e6 }))
    const all = ['one', 'two', 'three', 'four'].map(digestOf).toSorted()
    expect(digests(await store.inventory.stored({ after: '', limit: 10 }))).toEqual(all)
    const [first, second] = await store.inventory.stored({ after: '', limit: 2 })
    expect(first).toEqual({ sha256: all[0], sizeBytes: 100 })
    expect(digests(await store.inventory.stored({ after: second?.sha256 ?? '', limit: 10 }))).toEqual(all.slice(2))
  })

  it('adopts bytes that nobody needs, and only those', async (store) => {
    await stage(store, upload({ content: 'needed' }))
    const claimed = upload({ content: 'on its way' })
    const reservationId = await reserve(store, claimed)
    await store.quotas.claim({ reservationId, key: claimed.key, sha256: digestOf('on its way') })
    expect(await store.inventory.adopt({ sha256: digestOf('needed'), now: NOW })).toBe(false)
    expect(await store.inventory.adopt({ sha256: digestOf('on its way'), now: NOW })).toBe(false)
    expect(await store.inventory.adopt({ sha256: digestOf('nobody’s'), now: NOW })).toBe(true)
    expect(await store.discards.pending({ instanceId: 'a', limit: 10 })).toEqual([digestOf('nobody’s')])
  })

  it('remembers the last mark of each name', async ({ inventory }) => {
    expect(await inventory.mark('walk')).toBeUndefined()
    await inventory.setMark({ name: 'walk', value: 'a' })
    await inventory.setMark({ name: 'walk', value: 'b' })
    await inventory.setMark({ name: 'other', value: 'c' })
    expect(await inventory.mark('walk')).toBe('b')
  })
}
