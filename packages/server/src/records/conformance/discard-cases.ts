import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import { REMOVAL_HOLD } from '../removal-hold.ts'
import {
  ALICE,
  BOB,
  type Cases,
  claim,
  commit,
  digestOf,
  HOUR,
  NOW,
  pending,
  reserve,
  stage,
  stageAndRemove,
  times,
  upload,
} from './case.ts'

const LATER = NOW + HOUR

export function discardCases({ it }: Cases): void {
  const digest = digestOf('hello')
  const plainOf = (content: string) => ({ sha256: digestOf(content), put: '' })
  const plain = plainOf('hello')

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
    expect(await store.discards.begin({ ...plain, instanceId: 'instance-a', now: NOW })).toBe(false)
  })

  it('answers busy to a claim while a discard is under way', async (store) => {
    await stageAndRemove(store, upload())
    expect(await store.discards.begin({ ...plain, instanceId: 'instance-a', now: NOW })).toBe(true)
    const id = await reserve(store, upload())
    expect(await claim(store, id, upload())).toEqual({ outcome: 'busy' })
    await store.discards.finish({ ...plain, instanceId: 'instance-a' })
    expect(await claim(store, id, upload())).toEqual({ outcome: 'claimed' })
  })

  it('gives a discard to one taker', async (store) => {
    await stageAndRemove(store, upload())
    const takers = times(8, (index) => store.discards.begin({ ...plain, instanceId: `instance-${index}`, now: NOW }))
    expect((await Promise.all(takers)).filter(Boolean)).toHaveLength(1)
    expect(await pending(store)).toEqual([])
  })

  it('gives a discard again to the taker that could not finish it, and lets nobody else finish it', async (store) => {
    await stageAndRemove(store, upload())
    const [own, other] = [
      { ...plain, instanceId: 'instance-a', now: NOW },
      { ...plain, instanceId: 'instance-b', now: NOW },
    ]
    expect(await store.discards.begin(own)).toBe(true)
    expect(await store.discards.pending({ instanceId: 'instance-a', now: NOW, limit: 10 })).toEqual([plain])
    await store.discards.finish(other)
    expect(await store.discards.begin(other)).toBe(false)
    expect(await store.discards.begin(own)).toBe(true)
    await store.discards.finish(own)
    expect(await store.discards.begin(own)).toBe(false)
  })

  it('gives no discard that nobody planned, and finishing one is harmless', async (store) => {
    expect(await store.discards.begin({ ...plain, instanceId: 'instance-a', now: NOW })).toBe(false)
    await store.discards.finish({ ...plain, instanceId: 'instance-a' })
    await store.discards.finish({ ...plain, instanceId: 'instance-a' })
  })

  it('drops a discard whose bytes are needed again', async (store) => {
    await stageAndRemove(store, upload())
    const id = await reserve(store, upload())
    await commit(store, id, upload())
    expect(await store.discards.begin({ ...plain, instanceId: 'instance-a', now: NOW })).toBe(false)
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
    const now = NOW + 2
    expect(await store.discards.pending({ instanceId: 'somebody', now: NOW, limit: 10 })).toEqual([plainOf('c')])
    expect(await store.discards.pending({ instanceId: 'somebody', now, limit: 2 })).toEqual([
      plainOf('c'),
      plainOf('a'),
    ])
  })

  it('gives a discard when it is due, and not before', async (store) => {
    const { blob } = await replaced(store)
    const instanceId = 'instance-a'
    expect(await store.discards.pending({ instanceId, now: LATER - 1, limit: 10 })).toEqual([])
    expect(await store.discards.begin({ ...blob, instanceId, now: LATER - 1 })).toBe(false)
    expect(await store.discards.pending({ instanceId, now: LATER, limit: 10 })).toEqual([blob])
    expect(await store.discards.pending({ instanceId, now: LATER, limit: 10, sha256: digest })).toEqual([blob])
    expect(await store.discards.pending({ instanceId, now: LATER, limit: 10, sha256: digestOf('other') })).toEqual([])
    expect(await store.discards.begin({ ...blob, instanceId, now: LATER })).toBe(true)
  })

  it('reads an object from the put that was committed last, and plans a discard of the one before', async (store) => {
    await replaced(store)
    expect(await store.inventory.stored({ after: '', limit: 10 })).toEqual([
      { sha256: digest, put: 'put-2', sizeBytes: 100 },
    ])
    await store.files.remove({ principal: ALICE, key: upload().key, now: NOW })
    expect(await store.discards.pending({ instanceId: 'a', now: NOW, limit: 10 })).toEqual([])
    await store.files.remove({ principal: BOB, key: upload().key, now: NOW })
    expect(await store.discards.pending({ instanceId: 'a', now: LATER, limit: 10 })).toEqual([
      { sha256: digest, put: 'put-2' },
      { sha256: digest, put: 'put-1' },
    ])
  })

  it('reads an object from the put that a repetition of its upload brought', async (store) => {
    await stage(store, upload({ put: 'put-1' }))
    const again = upload({ put: 'put-2' })
    const id = await reserve(store, again)
    await claim(store, id, again)
    expect(await commit(store, id, again)).toMatchObject({ outcome: 'retry' })
    expect(await store.inventory.stored({ after: '', limit: 10 })).toMatchObject([{ put: 'put-2' }])
    expect(await store.discards.pending({ instanceId: 'a', now: NOW, limit: 10 })).toEqual([
      { sha256: digest, put: 'put-1' },
    ])
  })

  it('plans a discard of what an upload put, and not of what others put, when its claim ends', async (store) => {
    await stage(store, upload({ put: 'put-1' }))
    const other = upload({ principal: BOB, put: 'put-2' })
    const id = await reserve(store, other)
    await claim(store, id, other)
    await store.quotas.release({ reservationId: id, now: NOW, published: { sha256: digest, put: 'put-2' } })
    expect(await store.discards.pending({ instanceId: 'a', now: NOW, limit: 10 })).toEqual([
      { sha256: digest, put: 'put-2' },
    ])
    expect(await store.inventory.stored({ after: '', limit: 10 })).toMatchObject([{ put: 'put-1' }])
  })

  it('claims a new put of bytes of which another put is being removed', async (store) => {
    await stageAndRemove(store, upload())
    expect(await store.discards.begin({ ...plain, instanceId: 'instance-a', now: NOW })).toBe(true)
    const again = upload({ put: 'put-2' })
    const id = await reserve(store, again)
    expect(await claim(store, id, again)).toEqual({ outcome: 'claimed' })
    expect(await commit(store, id, again)).toMatchObject({ outcome: 'recorded' })
    await store.discards.finish({ ...plain, instanceId: 'instance-a' })
    expect(await pending(store)).toEqual([])
  })

  it('removes nothing while a backup holds removals, and goes on once that has ended or run out', async (store) => {
    await stageAndRemove(store, upload())
    const due = { ...plain, instanceId: 'instance-a' }
    await store.leases.take({ name: REMOVAL_HOLD, holder: 'backup-1', now: NOW, until: LATER })
    expect(await store.discards.pending({ instanceId: 'instance-a', now: NOW, limit: 10 })).toEqual([])
    expect(await store.discards.begin({ ...due, now: NOW })).toBe(false)
    expect(await store.discards.pending({ instanceId: 'instance-a', now: LATER, limit: 10 })).toEqual([plain])
    await store.leases.giveBack({ name: REMOVAL_HOLD, holder: 'backup-1' })
    expect(await store.discards.begin({ ...due, now: NOW })).toBe(true)
  })

  it('moves a small object to the put of a later upload', async (store) => {
    await stage(store, upload({ inline: Buffer.from('hello') }))
    await stage(store, upload({ principal: BOB, put: 'put-1' }))
    expect(await store.inventory.stored({ after: '', limit: 10 })).toMatchObject([{ sha256: digest, put: 'put-1' }])
    expect(await pending(store)).toEqual([])
  })

  /** Bytes that two principals staged, one after the other, each with a put of its own. */
  async function replaced(store: RecordStore) {
    await stage(store, upload({ put: 'put-1' }))
    await stage(store, upload({ principal: BOB, put: 'put-2', replacedUntil: LATER }))
    return { blob: { sha256: digest, put: 'put-1' } }
  }
}
