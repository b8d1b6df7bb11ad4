import { expect } from 'vitest'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  digestOf,
  NOW,
  pending,
  served,
  stage,
  stageAndRemove,
  times,
  upload,
} from './case.ts'

export function fileCases({ it }: Cases): void {
  it('gives a file back as it was committed', async (store) => {
    const file = await stage(store, upload({ filename: 'größe 📦.txt', contentType: 'text/plain; charset="utf-8"' }))
    expect(await store.files.bySequence(file.sequence)).toEqual(file)
    expect(await store.files.latest({ principal: ALICE, key: upload().key, now: NOW })).toEqual(file)
    expect(file).toMatchObject({
      filename: 'größe 📦.txt',
      owner: 'user:alice@example.org',
      verified: true,
      termDays: 7,
    })
  })

  it('finds nothing under a sequence, a key or a principal that it does not know', async (store) => {
    const file = await stage(store, upload())
    expect(await store.files.bySequence(file.sequence + 1)).toBeUndefined()
    expect(await store.files.latest({ principal: ALICE, key: 'opaque:unknown1', now: NOW })).toBeUndefined()
    expect(await store.files.latest({ principal: BOB, key: file.key, now: NOW })).toBeUndefined()
  })

  it('grows the sequence with every file, also after removals', async (store) => {
    const first = await stage(store, upload())
    await store.files.remove({ principal: ALICE, key: first.key, now: NOW })
    const second = await stage(store, upload())
    expect(second.sequence).toBeGreaterThan(first.sequence)
    expect(await store.files.latest({ principal: ALICE, key: first.key, now: NOW })).toEqual(second)
    expect(await store.files.bySequence(first.sequence)).toMatchObject({ end: 'removed' })
  })

  it('removes a file once, and only for its principal', async (store) => {
    const file = await stage(store, upload())
    expect(await store.files.remove({ principal: BOB, key: file.key, now: NOW })).toBeUndefined()
    const removed = { ...file, endedAt: NOW + 5, end: 'removed' }
    expect(await store.files.remove({ principal: ALICE, key: file.key, now: NOW + 5 })).toEqual(removed)
    expect(await store.files.remove({ principal: ALICE, key: file.key, now: NOW + 6 })).toBeUndefined()
    expect(await store.files.bySequence(file.sequence)).toEqual(removed)
  })

  it('answers one of several removals at once', async (store) => {
    const { key } = await stage(store, upload())
    const removals = await Promise.all(times(8, () => store.files.remove({ principal: ALICE, key, now: NOW })))
    expect(removals.filter((removed) => removed !== undefined)).toHaveLength(1)
  })

  it('counts a file as expired that is removed after its term', async (store) => {
    const { key, sequence } = await stage(store, upload({ expiresAt: NOW + 1 }))
    expect(await store.files.remove({ principal: ALICE, key, now: NOW + 2 })).toBeUndefined()
    expect(await store.files.bySequence(sequence)).toMatchObject({ end: 'expired', endedAt: NOW + 1 })
  })

  it('keeps the charge of a file that is removed or expired', async (store) => {
    await stageAndRemove(store, upload({ content: 'removed' }))
    await stage(store, upload({ content: 'expired', expiresAt: NOW + 1 }))
    await store.files.expire({ now: NOW + 1, limit: 10 })
    expect(await account(store)).toEqual({ charged: 200, reserved: 0, stored: 0 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('expires files oldest term first, at most as many as asked', async (store) => {
    const terms = [3, 1, 2, 9]
    const files = await Promise.all(
      terms.map((term) => stage(store, upload({ content: `term ${term}`, expiresAt: NOW + term }))),
    )
    const ends = () =>
      Promise.all(files.map(async ({ sequence }) => (await store.files.bySequence(sequence))?.endedAt ?? null))
    expect(await store.files.expire({ now: NOW + 3, limit: 2 })).toBe(2)
    expect(await ends()).toEqual([null, NOW + 1, NOW + 2, null])
    expect(await store.files.expire({ now: NOW + 3, limit: 2 })).toBe(1)
    expect(await store.files.expire({ now: NOW + 3, limit: 2 })).toBe(0)
    expect(await ends()).toEqual([NOW + 3, NOW + 1, NOW + 2, null])
  })

  it('gives inline bytes back until the last file that needs them has ended', async (store) => {
    const whole = Buffer.from('left hello right')
    const inline = whole.subarray(5, 10)
    await stage(store, upload({ inline }))
    await stage(store, upload({ principal: BOB, inline }))
    const read = async () => Buffer.from((await store.files.inlineBytes(digestOf('hello'))) ?? []).toString()
    expect(await read()).toBe('hello')
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await read()).toBe('hello')
    await store.files.remove({ principal: BOB, key: upload().key, now: NOW })
    expect(await store.files.inlineBytes(digestOf('hello'))).toBeUndefined()
    expect(await pending(store)).toEqual([])
  })

  it('gives every byte value and 1 MiB of inline bytes back', async (store) => {
    const inline = Buffer.alloc(1_048_576, Buffer.from(times(256, (index) => index)))
    await stage(store, upload({ inline }))
    const read = await store.files.inlineBytes(digestOf('hello'))
    expect(Buffer.compare(Buffer.from(read ?? []), inline)).toBe(0)
  })

  it('has no inline bytes for objects of the blob store or for unknown digests', async (store) => {
    await stage(store, upload())
    expect(await store.files.inlineBytes(digestOf('hello'))).toBeUndefined()
    expect(await store.files.inlineBytes(digestOf('unknown'))).toBeUndefined()
  })

  it('keeps keys apart that only look alike', async (store) => {
    const composed = upload({ content: 'nfc', key: 'opaque:caf\u00e9' })
    const decomposed = upload({ content: 'nfd', key: 'opaque:cafe\u0301' })
    const upper = upload({ content: 'upper', key: 'opaque:CAF\u00c9' })
    for (const one of [composed, decomposed, upper]) await stage(store, one)
    expect(await served(store, composed.key)).toBe('nfc as bytes')
    expect(await served(store, decomposed.key)).toBe('nfd as bytes')
    expect(await served(store, upper.key)).toBe('upper as bytes')
  })
}
