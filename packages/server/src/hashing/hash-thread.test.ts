import { afterAll, describe, expect, test } from 'vitest'
import { hashHere } from './block-hasher.ts'
import { startHashThread } from './hash-thread.ts'
import { sha256Hex } from './sha256.ts'

const BIG = 8 * 1024 * 1024

describe('the hashing thread', () => {
  const thread = startHashThread()
  afterAll(() => thread.close())

  const hasherOf = (where: string) => (where === 'on the thread' ? thread.hashers : hashHere)(BIG)

  test.each(['on the thread', 'on the calling thread'])('hashes blocks in order, %s', async (where) => {
    const hasher = hasherOf(where)
    for (const text of ['a', 'b', 'c']) await hasher.update(Buffer.from(text))
    expect(await hasher.digestHex()).toBe(sha256Hex(Buffer.from('abc')))
  })

  test.each(['on the thread', 'on the calling thread'])(
    'hashes nothing to the digest of nothing, %s',
    async (where) => {
      expect(await hasherOf(where).digestHex()).toBe(sha256Hex(new Uint8Array()))
    },
  )

  test('keeps bodies apart that are hashed at once', async () => {
    const bodies = Array.from({ length: 20 }, (_, index) => Buffer.alloc(300_000, index))
    const digests = await Promise.all(
      bodies.map(async (body) => {
        const hasher = thread.hashers(BIG)
        for (let offset = 0; offset < body.length; offset += 70_001)
          await hasher.update(body.subarray(offset, offset + 70_001))
        return hasher.digestHex()
      }),
    )
    expect(digests).toEqual(bodies.map(sha256Hex))
  })

  test('has read a block of shared memory when its update settles', async () => {
    const block = Buffer.from(new SharedArrayBuffer(1_000_000))
    const expected: Buffer[] = []
    const hasher = thread.hashers(BIG)
    for (const value of [1, 2, 3]) {
      block.fill(value)
      expected.push(Buffer.from(block))
      await hasher.update(block)
    }
    block.fill(9)
    expect(await hasher.digestHex()).toBe(sha256Hex(Buffer.concat(expected)))
  })

  test('forgets a discarded body and goes on with the others', async () => {
    const forgotten = thread.hashers(BIG)
    await forgotten.update(Buffer.from('x'))
    forgotten.discard()
    forgotten.discard()
    const hasher = thread.hashers(BIG)
    await hasher.update(Buffer.from('abc'))
    expect(await hasher.digestHex()).toBe(sha256Hex(Buffer.from('abc')))
  })

  test('error: a closed thread refuses instead of waiting for ever', async () => {
    const closed = startHashThread()
    const hasher = closed.hashers(BIG)
    await closed.close()
    await expect(hasher.update(Buffer.from('abc'))).rejects.toThrow('closed')
  })
})
