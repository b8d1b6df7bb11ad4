import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import { BOB, type Cases, commitAtOnce, digestOf, fileCommitOf, NOW, pending, stage, upload } from './case.ts'
import { composed, stageParts } from './composing.ts'

const BYTES = Buffer.from('the bytes of a small file')
const OTHER = Buffer.from('the bytes of a small fil\u0000')
const DIGESTS = Uint8Array.from({ length: 3 * 32 }, (_, index) => index)

export function integrityCases({ it, itAcrossRestart }: Cases): void {
  const sha256 = digestOf('hello')
  const digestsOf = (store: RecordStore, from = 0, count = 100) =>
    store.integrity.chunkDigests({ sha256, from, count }).then((digests) => digests && Uint8Array.from(digests))
  const inlineOf = async (store: RecordStore) => Buffer.from((await store.files.inlineBytes(sha256)) ?? '').toString()

  it('keeps the digests of chunks with a blob, and gives any part of them', async (store) => {
    await stage(store, upload({ chunkDigests: DIGESTS }))
    expect(await digestsOf(store)).toEqual(DIGESTS)
    expect(await digestsOf(store, 1, 1)).toEqual(DIGESTS.slice(32, 64))
    expect(await digestsOf(store, 2, 5)).toEqual(DIGESTS.slice(64))
    expect(await store.integrity.withoutChunksCount()).toBe(0)
    expect(await store.integrity.withoutChunks({ afterObject: 0, limit: 5 })).toEqual([])
  })

  it('has none of a blob that came without them, until they are set', async (store) => {
    await stage(store, upload())
    expect(await digestsOf(store)).toBeUndefined()
    await store.integrity.setChunkDigests({ sha256, digests: DIGESTS })
    expect(await digestsOf(store)).toEqual(DIGESTS)
    await store.integrity.setChunkDigests({ sha256: digestOf('unknown'), digests: DIGESTS })
  })

  it('takes those of a retry, and forgets them with the bytes', async (store) => {
    await stage(store, upload())
    await commitAtOnce(store, upload({ chunkDigests: DIGESTS }))
    expect(await digestsOf(store)).toEqual(DIGESTS)
    await store.files.remove({ principal: upload().principal, key: upload().key, now: NOW })
    expect(await digestsOf(store)).toBeUndefined()
  })

  it('sets none for bytes that are in the records or composed', async (store) => {
    await stage(store, upload({ inline: BYTES }))
    await store.integrity.setChunkDigests({ sha256, digests: DIGESTS })
    expect(await digestsOf(store)).toBeUndefined()
  })

  itAcrossRestart('remembers damage, as it was noticed first', async (store, restart) => {
    await stage(store, upload({ inline: BYTES }))
    await store.integrity.setDamaged({ object: sha256, kind: 'inline', now: NOW })
    await store.integrity.setDamaged({ object: sha256, kind: 'inline', now: NOW + 5 })
    await store.integrity.setDamaged({ object: digestOf('unknown'), kind: 'missing', now: NOW })
    const later = await restart()
    expect(await later.integrity.damageOf(sha256)).toBe('inline')
    expect(await later.integrity.damagedCount()).toBe(1)
    expect(await later.integrity.damaged({ limit: 10 })).toEqual([{ object: sha256, kind: 'inline', noticedAt: NOW }])
    await later.integrity.clearDamaged(sha256)
    expect(await later.integrity.damageOf(sha256)).toBeUndefined()
    expect(await later.integrity.damagedCount()).toBe(0)
  })

  it('lists bytes that are in the records, in the order of their digests', async (store) => {
    await stage(store, upload({ content: 'one', inline: BYTES }))
    await stage(store, upload({ content: 'two', inline: OTHER }))
    await stage(store, upload({ content: 'blob' }))
    const all = [digestOf('one'), digestOf('two')].sort()
    const objects = [...all, digestOf('blob')].sort()
    const list = (after: string, limit: number, before = 'g') => store.integrity.inlineObjects({ after, before, limit })
    const listed = await list('', 10)
    expect(listed.objects.map((each) => each.sha256)).toEqual(all)
    expect(listed.objects.map(({ bytes }) => Buffer.from(bytes))).toContainEqual(BYTES)
    expect(listed.last).toBe(objects.at(-1))
    // An object whose bytes are elsewhere is looked at, too.
    for (const [index, object] of objects.entries()) {
      expect(await list(objects[index - 1] ?? '', 1)).toMatchObject({ last: object })
    }
    expect((await list('', 10, all[1])).objects.map((each) => each.sha256)).toEqual(all.slice(0, 1))
    expect(await list(objects.at(-1) ?? '', 10)).toEqual({ objects: [], last: undefined })
  })

  for (const [how, again] of [
    ['by the same principal', upload()],
    ['by somebody else', upload({ principal: BOB })],
  ] as const) {
    it(`leaves the verified bytes of an upload ${how} in the place of damaged ones, at once and in two steps`, async (store) => {
      await stage(store, upload({ inline: OTHER }))
      await store.integrity.setDamaged({ object: sha256, kind: 'inline', now: NOW })
      await commitAtOnce(store, { ...again, inline: BYTES })
      expect(await inlineOf(store)).toBe(BYTES.toString())
      expect(await store.integrity.damageOf(sha256)).toBeUndefined()

      await store.integrity.setDamaged({ object: sha256, kind: 'inline', now: NOW })
      const two = { ...again, inline: OTHER, reservationId: 'two-steps' }
      await store.quotas.reserve(two)
      await store.quotas.commit({ reservationId: 'two-steps', ...fileCommitOf(two, 'd-0x2') })
      expect(await inlineOf(store)).toBe(OTHER.toString())
      expect(await store.integrity.damageOf(sha256)).toBeUndefined()
    })
  }

  it('takes bytes into the records whose blob is known to be damaged, and lets go of the blob', async (store) => {
    await stage(store, upload({ chunkDigests: DIGESTS }))
    await commitAtOnce(store, upload({ inline: BYTES }))
    expect(await inlineOf(store)).toBe('')
    await store.integrity.setDamaged({ object: sha256, kind: 'missing', now: NOW })
    await commitAtOnce(store, upload({ inline: BYTES }))
    expect(await inlineOf(store)).toBe(BYTES.toString())
    expect(await store.integrity.damageOf(sha256)).toBeUndefined()
    expect(await digestsOf(store)).toBeUndefined()
    expect(await pending(store)).toEqual([sha256])
  })

  it('forgets the damage of a blob that was uploaded again', async (store) => {
    await stage(store, upload())
    await store.integrity.setDamaged({ object: sha256, kind: 'wrong', now: NOW })
    await stage(store, upload({ principal: BOB }))
    expect(await store.integrity.damagedCount()).toBe(0)
  })

  it('keeps a composed object as its parts are, whatever is uploaded', async (store) => {
    const whole = await composed(store, await stageParts(store), { key: `sha256:${digestOf('whole')}`, isRead: true })
    await commitAtOnce(store, upload({ content: 'whole', inline: BYTES, sizeBytes: whole.sizeBytes }))
    expect(await store.compositions.partsOf(digestOf('whole'))).toHaveLength(2)
    expect(await store.files.inlineBytes(digestOf('whole'))).toBeUndefined()
  })
}
