import { expect } from 'vitest'
import {
  ALICE,
  BOB,
  type Cases,
  claim,
  commit,
  digestOf,
  NOW,
  pending,
  reserve,
  stage,
  stageAndRemove,
  times,
  upload,
} from './case.ts'

export function discardCases({ it }: Cases): void {
  const digest = digestOf('hello')

  it('moves an object to the blob store when a later upload put it there', async (store) => {
    await stage(store, upload({ inline: Buffer.from('hello') }))
    const id = await reserve(store, upload({ principal: BOB }))
    expect(await claim(store, id, upload())).toEqual({ outcome: 'claimed' })
    await commit(store, id, upload({ principal: BOB }))
    expect(await store.files.inlineBytes(digest)).toBeUndefined()
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    await store.files.remove({ principal: BOB, key: upload().key, now: NOW })
    expect(await pending(store)).toEqual([digest])
  })

  it('plans a discard with the last live file, not before', async (store) => {
    await stage(store, upload())
    await stage(store, upload({ principal: BOB }))
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await pending(store)).toEqual([])
    await store.files.remove({ principal: BOB, key: upload().key, now: NOW })
    expect(await pending(store)).toEqual([digest])
  })

  it('plans a discard for files that expire', async (store) => {
    await stage(store, upload({ expiresAt: NOW + 1 }))
    await stage(store, upload({ principal: BOB, expiresAt: NOW + 2 }))
    await store.files.expire({ now: NOW + 1, limit: 10 })
    expect(await pending(store)).toEqual([])
    await store.files.expire({ now: NOW + 2, limit: 10 })
    expect(await pending(store)).toEqual([digest])
  })

  it('cancels a planned discard by a claim', async (store) => {
    await stageAndRemove(store, upload())
    const id = await reserve(store, upload())
    expect(await claim(store, id, upload())).toEqual({ outcome: 'claimed' })
    expect(await pending(store)).toEqual([])
    expect(await store.discards.begin({ sha256: digest, instanceId: 'instance-a' })).toBe(false)
  })

  it('answers busy to a claim while a discard is under way', async (store) => {
    await stageAndRemove(store, upload())
    expect(await store.discards.begin({ sha256: digest, instanceId: 'instance-a' })).toBe(true)
    const id = await reserve(store, upload())
    expect(await claim(store, id, upload())).toEqual({ outcome: 'busy' })
    await store.discards.finish({ sha256: digest, instanceId: 'instance-a' })
    expect(await claim(store, id, upload())).toEqual({ outcome: 'claimed' })
  })

  it('gives a discard to one taker', async (store) => {
    await stageAndRemove(store, upload())
    const takers = times(8, (index) => store.discards.begin({ sha256: digest, instanceId: `instance-${index}` }))
    expect((await Promise.all(takers)).filter(Boolean)).toHaveLength(1)
    expect(await pending(store)).toEqual([])
  })

  it('gives a discard again to the taker that could not finish it, and lets nobody else finish it', async (store) => {
    await stageAndRemove(store, upload())
    const [own, other] = [
      { sha256: digest, instanceId: 'instance-a' },
      { sha256: digest, instanceId: 'instance-b' },
    ]
    expect(await store.discards.begin(own)).toBe(true)
    expect(await store.discards.pending({ instanceId: 'instance-a', limit: 10 })).toEqual([digest])
    await store.discards.finish(other)
    expect(await store.discards.begin(other)).toBe(false)
    expect(await store.discards.begin(own)).toBe(true)
    await store.discards.finish(own)
    expect(await store.discards.begin(own)).toBe(false)
  })

  it('gives no discard that nobody planned, and finishing one is harmless', async (store) => {
    expect(await store.discards.begin({ sha256: digest, instanceId: 'instance-a' })).toBe(false)
    await store.discards.finish({ sha256: digest, instanceId: 'instance-a' })
    await store.discards.finish({ sha256: digest, instanceId: 'instance-a' })
  })

  it('drops a discard whose bytes are needed again', async (store) => {
    await stageAndRemove(store, upload())
    const id = await reserve(store, upload())
    await commit(store, id, upload())
    expect(await store.discards.begin({ sha256: digest, instanceId: 'instance-a' })).toBe(false)
    expect(await pending(store)).toEqual([])
  })

  it('plans a discard when a claim ends that nobody else needs', async (store) => {
    const first = await reserve(store, upload())
    const second = await reserve(store, upload({ principal: BOB }))
    await claim(store, first, upload())
    await claim(store, second, upload())
    await store.quotas.release({ reservationId: first, now: NOW })
    expect(await pending(store)).toEqual([])
    await store.quotas.release({ reservationId: second, now: NOW })
    expect(await pending(store)).toEqual([digest])
  })

  it('plans no discard when a claim ends whose bytes a file needs', async (store) => {
    await stage(store, upload())
    const id = await reserve(store, upload({ principal: BOB }))
    await claim(store, id, upload())
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await pending(store)).toEqual([])
  })

  it('plans no discard for a reservation that claimed nothing', async (store) => {
    const id = await reserve(store, upload())
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await pending(store)).toEqual([])
  })

  it('waits for a claim when the last file goes', async (store) => {
    await stage(store, upload())
    const id = await reserve(store, upload({ principal: BOB }))
    await claim(store, id, upload())
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await pending(store)).toEqual([])
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await pending(store)).toEqual([digest])
  })

  it('plans a discard for a claim whose lease ended', async (store) => {
    const id = await reserve(store, upload({ leaseUntil: NOW - 1 }))
    await claim(store, id, upload())
    await store.quotas.releaseExpired({ now: NOW })
    expect(await pending(store)).toEqual([digest])
  })

  it('lists planned discards oldest first and no more than asked', async (store) => {
    for (const [age, content] of ['c', 'a', 'b'].entries()) {
      await stageAndRemove(store, upload({ content, now: NOW + age }))
    }
    expect(await store.discards.pending({ instanceId: 'somebody', limit: 2 })).toEqual([digestOf('c'), digestOf('a')])
  })
}
