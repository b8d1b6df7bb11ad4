import { expect } from 'vitest'
import { BOB, type Cases, commit, digestOf, HOUR, NOW, reserve, stage, stageAndRemove, times, upload } from './case.ts'

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
    expect(first).toEqual({ sha256: all[0], put: '', sizeBytes: 100 })
    expect(digests(await store.inventory.stored({ after: second?.sha256 ?? '', limit: 10 }))).toEqual(all.slice(2))
  })

  it('plans the removal of orphans for later, and of no bytes that somebody needs', async (store) => {
    const { inventory, discards } = store
    const plan = (content: string) =>
      inventory.planOrphan({ sha256: digestOf(content), put: '', now: NOW, dueAt: NOW + 5 })
    await stage(store, upload({ content: 'needed' }))
    await stageAndRemove(store, upload({ content: 'being removed', capBytes: 1e6 }))
    const claimed = upload({ content: 'on its way', capBytes: 1e6 })
    const reservationId = await reserve(store, claimed)
    await store.quotas.claim({ reservationId, key: claimed.key, sha256: digestOf('on its way'), put: '' })
    for (const content of ['needed', 'on its way', 'being removed']) expect(await plan(content), content).toBe(false)
    expect(await plan('nobody’s')).toBe(true)
    expect(await plan('nobody’s')).toBe(false)
    expect(await inventory.orphans()).toBe(1)
    const due = async (now: number) =>
      (await discards.pending({ instanceId: 'a', limit: 10, now })).map(({ sha256 }) => sha256)
    expect(await due(NOW + 4)).not.toContain(digestOf('nobody’s'))
    expect(await due(NOW + 5)).toContain(digestOf('nobody’s'))
  })

  it('lets orphans be when somebody stages their bytes, and when told to', async (store) => {
    const { inventory } = store
    for (const content of ['one', 'two', 'three']) {
      await inventory.planOrphan({ sha256: digestOf(content), put: '', now: NOW, dueAt: NOW + 5 })
    }
    await stage(store, upload({ content: 'one' }))
    expect(await inventory.orphans()).toBe(2)
    await stageAndRemove(store, upload({ content: 'removed', capBytes: 1e6 }))
    await inventory.letOrphansBe()
    expect(await inventory.orphans()).toBe(0)
    const left = await store.discards.pending({ instanceId: 'a', limit: 10, now: NOW + 1e12 })
    expect(left.map(({ sha256 }) => sha256)).toEqual([digestOf('removed')])
  })

  it('keeps as orphans what uploads had claimed and what was to be removed', async (store) => {
    const { inventory, discards, instances } = store
    await stage(store, upload({ content: 'needed' }))
    await stageAndRemove(store, upload({ content: 'being removed', capBytes: 1e6 }))
    const claimed = upload({ content: 'on its way', capBytes: 1e6 })
    const reservationId = await reserve(store, claimed)
    await store.quotas.claim({ reservationId, key: claimed.key, sha256: digestOf('on its way'), put: '' })
    const known = ['being removed', 'on its way'].map(digestOf)
    expect(await discards.begin({ sha256: known[0] ?? '', put: '', instanceId: 'instance-a', now: NOW })).toBe(true)
    await inventory.keepAsOrphans({ now: NOW, dueAt: NOW + 5 })
    await instances.deregister({ instanceId: 'instance-a', now: NOW })
    const due = async (now: number) => digests(await discards.pending({ instanceId: 'b', limit: 10, now })).toSorted()
    expect(await due(NOW + 4)).toEqual([])
    expect(await due(NOW + 5)).toEqual(known.toSorted())
    expect(await inventory.orphans()).toBe(2)
    expect(await inventory.known(known)).toEqual(known)
  })

  it('knows bytes that a file, an upload under way or a planned removal has, and no others', async (store) => {
    await stage(store, upload({ content: 'needed' }))
    await stageAndRemove(store, upload({ content: 'being removed', capBytes: 1e6 }))
    const claimed = upload({ content: 'on its way', capBytes: 1e6 })
    const reservationId = await reserve(store, claimed)
    await store.quotas.claim({ reservationId, key: claimed.key, sha256: digestOf('on its way'), put: '' })
    const known = ['needed', 'being removed', 'on its way'].map(digestOf)
    expect(await store.inventory.known([...known, digestOf('nobody’s')])).toEqual(known)
    expect(await store.inventory.known([])).toEqual([])
  })

  it('says which put of a digest is read, and before there is one those that uploads have claimed', async (store) => {
    const { inventory } = store
    expect(await inventory.puts(digestOf('hello'))).toEqual([])
    const [one, other] = [upload({ put: 'one' }), upload({ principal: BOB, put: 'other' })]
    const ids = [await reserve(store, one), await reserve(store, other)]
    await store.quotas.claim({ reservationId: ids[0] ?? '', key: one.key, sha256: digestOf('hello'), put: 'one' })
    await store.quotas.claim({ reservationId: ids[1] ?? '', key: one.key, sha256: digestOf('hello'), put: 'other' })
    expect((await inventory.puts(digestOf('hello'))).toSorted()).toEqual(['one', 'other'])
    await commit(store, ids[1] ?? '', other)
    expect(await inventory.puts(digestOf('hello'))).toEqual(['other'])
    await store.files.remove({ principal: BOB, key: other.key, now: NOW })
    expect(await inventory.puts(digestOf('hello'))).toEqual(['one'])
  })

  it('reads an object from a put that is there instead of its own, unless that has changed or is being removed', async (store) => {
    const { inventory } = store
    const sha256 = digestOf('hello')
    await stage(store, upload({ put: 'one' }))
    expect(await inventory.usePut({ sha256, put: 'two', missing: 'other' })).toBe(false)
    expect(await inventory.usePut({ sha256, put: 'two', missing: 'one' })).toBe(true)
    expect(await inventory.puts(sha256)).toEqual(['two'])
    expect(await inventory.planOrphan({ sha256, put: 'two', now: NOW, dueAt: NOW })).toBe(false)
    expect(await inventory.planOrphan({ sha256, put: 'one', now: NOW, dueAt: NOW })).toBe(true)
    expect(await store.discards.begin({ sha256, put: 'one', instanceId: 'instance-a', now: NOW })).toBe(true)
    expect(await inventory.usePut({ sha256, put: 'one', missing: 'two' })).toBe(false)
    await inventory.forgetPuts()
    expect(await inventory.puts(sha256)).toEqual([''])
  })

  it('has what was replaced wait for its readers, though it is found in the store', async (store) => {
    await stage(store, upload({ put: 'one' }))
    await stage(store, upload({ principal: BOB, put: 'two', replacedUntil: NOW + HOUR }))
    expect(await store.inventory.planOrphan({ sha256: digestOf('hello'), put: 'one', now: NOW, dueAt: NOW })).toBe(
      false,
    )
    expect(await store.discards.pending({ instanceId: 'a', now: NOW, limit: 10 })).toEqual([])
  })

  it('remembers the last mark of each name', async ({ inventory }) => {
    expect(await inventory.mark('walk')).toBeUndefined()
    await inventory.setMark({ name: 'walk', value: 'a' })
    await inventory.setMark({ name: 'walk', value: 'b' })
    await inventory.setMark({ name: 'other', value: 'c' })
    expect(await inventory.mark('walk')).toBe('b')
  })
}
