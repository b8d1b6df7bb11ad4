import { LadeError } from '@lade/core/errors'
import { sha256Hex } from '@lade/node/hashing/sha256'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BlobBody } from '../blobs/blob-store.ts'
import { openMemoryBlobStore } from '../blobs/drivers/memory/memory-blob-store.ts'
import { verifyingBlobStore } from '../blobs/wrappers/verifying-blob-store.ts'
import { composedBody } from './composed-body.ts'
import type { OpenObject } from './open-bytes.ts'

/** A body composed of these parts, the odd ones inline, and how many of them are open. */
async function bodyOf(
  parts: readonly Uint8Array[],
): Promise<{ body: BlobBody; opened: { now: number; ever: number } }> {
  const store = openMemoryBlobStore()
  const opened = { now: 0, ever: 0 }
  for (const bytes of parts) {
    const pending = await store.begin({ holder: 'test', sizeBytes: bytes.length })
    await pending.write(bytes)
    await pending.commit(sha256Hex(bytes))
  }
  const ids = parts.map((bytes, index) => ({ object: sha256Hex(bytes), sizeBytes: bytes.length, index }))
  const body = composedBody(ids, async ({ object }): Promise<OpenObject> => {
    const { index = 0 } = ids.find((id) => id.object === object) ?? {}
    opened.ever += 1
    if (index % 2 === 1) return { kind: 'inline', bytes: parts[index] ?? new Uint8Array() }
    const blob = await store.open(object)
    if (blob === undefined) throw new Error(`${object} is missing`)
    opened.now += 1
    const close = async (): Promise<void> => {
      opened.now -= 1
      await blob.close()
    }
    return { kind: 'blob', body: { ...blob, chunks: (range) => blob.chunks(range), close } }
  })
  return { body, opened }
}

async function read(body: BlobBody, range?: { offset: number; length: number }): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of body.chunks(range)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

describe('composedBody', () => {
  it('gives any range of the parts one behind the other, and closes what it opened', async () => {
    const part = fc.uint8Array({ minLength: 1, maxLength: 40 })
    const cut = fc.tuple(fc.nat(200), fc.nat(200))
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(part, { minLength: 1, maxLength: 5, selector: sha256Hex }),
        cut,
        async (parts, [one, other]) => {
          const { body, opened } = await bodyOf(parts)
          const whole = Buffer.concat(parts)
          expect(body.sizeBytes).toBe(whole.length)
          expect(await read(body)).toEqual(whole)
          const [from, to] = [one % (whole.length + 1), other % (whole.length + 1)].sort((a, b) => a - b)
          const range = { offset: from ?? 0, length: (to ?? 0) - (from ?? 0) }
          expect(await read(body, range)).toEqual(whole.subarray(from, to))
          expect(opened.now).toBe(0)
        },
      ),
      { numRuns: 100 },
    )
  })

  it('opens only what a range touches', async () => {
    const { body, opened } = await bodyOf([Buffer.from('one'), Buffer.from('two'), Buffer.from('three')])
    expect((await read(body, { offset: 3, length: 3 })).toString()).toBe('two')
    expect(opened.ever).toBe(1)
    expect((await read(body, { offset: 2, length: 2 })).toString()).toBe('et')
    expect(opened.ever).toBe(3)
  })

  it('closes the part that it is at when the reader leaves', async () => {
    const { body, opened } = await bodyOf([Buffer.from('one'), Buffer.from('two')])
    for await (const chunk of body.chunks()) {
      expect([Buffer.from(chunk).toString(), opened.now]).toEqual(['one', 1])
      break
    }
    expect(opened.now).toBe(0)
  })

  it('error: a part of wrong bytes ends the reading before its last chunk, whenever it is read as a whole', async () => {
    const store = openMemoryBlobStore()
    const damaged: string[] = []
    const blobs = verifyingBlobStore({ store, onDamage: (sha256) => damaged.push(sha256) })
    const parts = ['first', 'wrong', 'third'].map((name) => Buffer.alloc(150_000, name))
    const ids = parts.map((bytes) => ({ object: sha256Hex(bytes), sizeBytes: bytes.length }))
    for (const [index, id] of ids.entries()) {
      const pending = await store.begin({ holder: 'test', sizeBytes: id.sizeBytes })
      await pending.write(index === 1 ? Buffer.alloc(150_000, 'WRONG') : (parts[index] ?? new Uint8Array()))
      await pending.commit(id.object)
    }
    const body = composedBody(ids, async ({ object }): Promise<OpenObject> => {
      const opened = await blobs.open(object)
      if (opened === undefined) throw new Error(`${object} is missing`)
      return { kind: 'blob', body: opened }
    })

    for (const range of [undefined, { offset: 10, length: 400_000 }, { offset: 150_000, length: 150_000 }]) {
      damaged.length = 0
      const received: Buffer[] = []
      const reading = (async () => {
        for await (const chunk of body.chunks(range)) received.push(Buffer.from(chunk))
      })()
      await expect(reading).rejects.toSatisfy((error) => LadeError.has(error, 'storage_failed'))
      const { offset } = range ?? { offset: 0 }
      expect(offset + Buffer.concat(received).length).toBeLessThan(300_000)
      expect(damaged).toEqual([ids[1]?.object])
    }
    const first = await read(body, { offset: 0, length: 150_000 })
    expect(first.equals(parts[0] ?? Buffer.alloc(0))).toBe(true)
  })

  it('error: a part that cannot be opened ends the reading', async () => {
    const body = composedBody([{ object: 'aa', sizeBytes: 1 }], async () => {
      throw new Error('no such part')
    })
    await expect(read(body)).rejects.toThrow('no such part')
  })

  it('error: a range outside, and reading after the end', async () => {
    const { body } = await bodyOf([Buffer.from('one'), Buffer.from('two')])
    for (const range of [
      { offset: 0, length: 7 },
      { offset: 7, length: 0 },
      { offset: -1, length: 1 },
    ]) {
      await expect(read(body, range)).rejects.toThrow(TypeError)
    }
    await body.close()
    await body.close()
    await expect(read(body)).rejects.toThrow(TypeError)
  })
})
