import { expect } from 'vitest'
import { ALICE, BOB, type Cases, NOW, stage, stageAndRemove, upload } from './case.ts'

export function servingCases({ it }: Cases): void {
  const { key } = upload()

  it('knows nothing of a digest that was never staged', async (store) => {
    expect(await store.files.serving({ key, now: NOW, principal: ALICE })).toEqual({ outcome: 'absent' })
  })

  it('serves the earliest live public file to all who have none of their own', async (store) => {
    const first = await stage(store, upload({ filename: 'first.txt' }))
    const second = await stage(store, upload({ principal: BOB, filename: 'second.txt' }))
    expect(await store.files.serving({ key, now: NOW, principal: 'user:eve' })).toEqual({
      outcome: 'found',
      file: first,
      view: 'bytes',
    })
    expect(await store.files.serving({ key, now: NOW, principal: BOB })).toMatchObject({ file: second })
    await store.files.remove({ principal: ALICE, key, now: NOW })
    expect(await store.files.serving({ key, now: NOW })).toEqual({ outcome: 'found', file: second, view: 'bytes' })
  })

  it('serves files of accounts before sponsored ones, which may be earlier', async (store) => {
    const sponsored = await stage(store, upload({ principal: 'ip:192.0.2.1', sponsored: true }))
    await stage(store, upload({ principal: 'ip:192.0.2.2', sponsored: true }))
    expect(await store.files.serving({ key, now: NOW })).toMatchObject({ file: sponsored })
    const first = await stage(store, upload())
    await stage(store, upload({ principal: BOB }))
    expect(await store.files.serving({ key, now: NOW })).toMatchObject({ file: first })
    expect(await store.files.serving({ key, now: NOW, principal: 'user:eve' })).toMatchObject({ file: first })
  })

  it('serves a public file before an earlier private one, but to the owner of the private one', async (store) => {
    const own = await stage(store, upload({ visibility: 'private' }))
    const file = await stage(store, upload({ principal: BOB }))
    expect(await store.files.serving({ key, now: NOW })).toEqual({ outcome: 'found', file, view: 'bytes' })
    expect(await store.files.serving({ key, now: NOW, principal: ALICE })).toMatchObject({ file: own })
  })

  it('knows private files of others neither live nor ended', async (store) => {
    await stage(store, upload({ visibility: 'private' }))
    expect(await store.files.serving({ key, now: NOW, principal: BOB })).toEqual({ outcome: 'absent' })
    await store.files.remove({ principal: ALICE, key, now: NOW })
    expect(await store.files.serving({ key, now: NOW })).toEqual({ outcome: 'absent' })
    expect(await store.files.serving({ key, now: NOW, principal: ALICE })).toEqual({ outcome: 'gone', end: 'removed' })
    await stageAndRemove(store, upload({ principal: BOB }))
    await stage(store, upload({ visibility: 'private' }))
    expect(await store.files.serving({ key, now: NOW })).toEqual({ outcome: 'gone', end: 'removed' })
  })

  it('serves a private file to its principal only', async (store) => {
    const file = await stage(store, upload({ visibility: 'private' }))
    await stage(store, upload({ principal: BOB, visibility: 'private' }))
    expect(await store.files.serving({ key, now: NOW, principal: ALICE })).toEqual({
      outcome: 'found',
      file,
      view: 'bytes',
    })
    expect(await store.files.serving({ key, now: NOW, principal: 'user:eve' })).toEqual({ outcome: 'absent' })
    expect(await store.files.serving({ key, now: NOW })).toEqual({ outcome: 'absent' })
  })

  it('says how long everybody is served an object', async (store) => {
    const object = key.slice('sha256:'.length)
    const until = (now = NOW) => store.files.publicUntil({ object, now })
    expect(await until()).toBeUndefined()
    await stage(store, upload({ visibility: 'private' }))
    await stage(store, upload({ principal: 'ip:192.0.2.1', sponsored: true, expiresAt: NOW + 10 }))
    expect([await until(), await until(NOW + 10)]).toEqual([NOW + 10, undefined])
    await stage(store, upload({ principal: BOB, expiresAt: NOW + 20 }))
    expect([await until(), await until(NOW + 20)]).toEqual([NOW + 20, undefined])
  })

  it('stops serving at the end of the term, swept or not', async (store) => {
    await stage(store, upload({ expiresAt: NOW + 10 }))
    expect(await store.files.serving({ key, now: NOW + 9 })).toMatchObject({ outcome: 'found' })
    expect(await store.files.serving({ key, now: NOW + 10 })).toEqual({ outcome: 'gone', end: 'expired' })
    await store.files.expire({ now: NOW + 10, limit: 10 })
    expect(await store.files.serving({ key, now: NOW + 10 })).toEqual({ outcome: 'gone', end: 'expired' })
  })

  it('says how the latest file ended', async (store) => {
    await stageAndRemove(store, upload())
    expect(await store.files.serving({ key, now: NOW })).toEqual({ outcome: 'gone', end: 'removed' })
    await stage(store, upload({ principal: BOB, expiresAt: NOW + 1 }))
    await store.files.expire({ now: NOW + 1, limit: 10 })
    expect(await store.files.serving({ key, now: NOW + 1 })).toEqual({ outcome: 'gone', end: 'expired' })
  })

  it('serves again what is staged again', async (store) => {
    await stageAndRemove(store, upload())
    const file = await stage(store, upload())
    expect(await store.files.serving({ key, now: NOW })).toEqual({ outcome: 'found', file, view: 'bytes' })
  })
}
