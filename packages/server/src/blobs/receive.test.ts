import { Readable } from 'node:stream'
import { LadeError } from '@lade/core/errors'
import { digestField } from '@lade/node/hashing/digest-field'
import { sha256Hex } from '@lade/node/hashing/sha256'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { blobOf, expectBytes, expectInvisible, get, HOLDER } from './conformance/case.ts'
import { seededBytes } from './conformance/seeded-bytes.ts'
import { openMemoryBlobStore } from './drivers/memory/memory-blob-store.ts'
import { receiveBlob, receiveInline, type SizedReceiveOptions } from './receive.ts'
import { PushedBody } from './testing-pushed-body.ts'
import { BLOB, bodyOf, expectNothingLeft, idOf, optionsFor, storeWith } from './testing-receive.ts'

const ANY = idOf('whatever')
const WRONG = idOf('a'.repeat(64))

describe('receiveBlob', () => {
  test('stores a body under its digest, visible only after the commit', async () => {
    const store = openMemoryBlobStore()
    const blob = await receiveBlob(store, HOLDER, bodyOf(BLOB.bytes), optionsFor(BLOB))
    expect(blob.digests).toMatchObject({ sha256: BLOB.sha256, sizeBytes: BLOB.bytes.length })
    expect(blob.verified.as).toBe('bytes')
    await expectInvisible(store, BLOB.sha256)
    await blob.commit()
    expectBytes(await get(store, BLOB.sha256), BLOB.bytes)
  })

  test('forgets an aborted body, and keeps one aborted after its commit', async () => {
    const store = openMemoryBlobStore()
    const forgotten = await receiveBlob(store, HOLDER, bodyOf(BLOB.bytes), optionsFor(BLOB))
    await forgotten.abort()
    await expectNothingLeft(store, BLOB)
    const kept = await receiveBlob(store, HOLDER, bodyOf(BLOB.bytes), optionsFor(BLOB))
    await kept.commit()
    await kept.abort()
    expectBytes(await get(store, BLOB.sha256), BLOB.bytes)
  })

  test('takes any body under an opaque id and tells which digest it has', async () => {
    const options = optionsFor(BLOB, { id: ANY })
    const blob = await receiveBlob(openMemoryBlobStore(), HOLDER, bodyOf(BLOB.bytes), options)
    expect(blob.digests.sha256).toBe(BLOB.sha256)
  })

  test('takes an empty body', async () => {
    const empty = blobOf('')
    const blob = await receiveBlob(openMemoryBlobStore(), HOLDER, bodyOf(empty.bytes), optionsFor(empty))
    expect(blob.digests.sha256).toBe(empty.sha256)
  })

  test('stores what was sent, however it was cut and whatever the buffer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 300 }),
        fc.boolean(),
        async (chunks, bufferBytes, isSized) => {
          const whole = blobOf(Buffer.concat(chunks))
          const store = openMemoryBlobStore()
          const body = new PushedBody()
          const options = optionsFor(whole, { bufferBytes })
          const receiving = receiveBlob(store, HOLDER, body, isSized ? options : { ...options, sizeBytes: undefined })
          for (const chunk of chunks) {
            body.push(chunk)
            if (chunk.length % 3 === 0) await null
          }
          body.end()
          await (await receiving).commit()
          expectBytes(await get(store, whole.sha256), whole.bytes)
        },
      ),
    )
  })

  test('misses nothing that is sent before the store is ready', async () => {
    const store = openMemoryBlobStore()
    const begin = store.begin.bind(store)
    store.begin = async (options) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return begin(options)
    }
    const body = new PushedBody()
    const receiving = receiveBlob(store, HOLDER, body, optionsFor(BLOB))
    body.push(BLOB.bytes).end()
    expect((await receiving).digests.sha256).toBe(BLOB.sha256)
  })

  test('takes a body whole that has ended before all of it found a buffer', async () => {
    const store = openMemoryBlobStore()
    const receiving = receiveBlob(store, HOLDER, Readable.from([BLOB.bytes]), optionsFor(BLOB))
    await (await receiving).commit()
    expectBytes(await get(store, BLOB.sha256), BLOB.bytes)
  })

  test('writes one buffer at a time and full ones but the last', async () => {
    const lengths: number[] = []
    let isWriting = false
    const store = storeWith((pending) => ({
      async write(chunk) {
        expect(isWriting).toBe(false)
        isWriting = true
        lengths.push(chunk.length)
        await pending.write(chunk)
        isWriting = false
      },
    }))
    await receiveBlob(store, HOLDER, bodyOf(BLOB.bytes, 777), optionsFor(BLOB, { bufferBytes: 30_000 }))
    expect(lengths).toEqual([30_000, 30_000, 30_000, 10_000])
  })

  test('passes over empty chunks', async () => {
    const lengths: number[] = []
    const store = storeWith((pending) => ({
      write: (chunk) => {
        lengths.push(chunk.length)
        return pending.write(chunk)
      },
    }))
    const body = new PushedBody()
    for (const text of ['', 'ab', '', 'c', '']) body.push(Buffer.from(text))
    await receiveBlob(store, HOLDER, body.end(), { sizeBytes: 3, id: ANY })
    expect(lengths).toEqual([3])
  })

  test('reports every arrival with the running total', async () => {
    const onProgress = vi.fn<(receivedBytes: number) => void>()
    await receiveBlob(openMemoryBlobStore(), HOLDER, bodyOf(BLOB.bytes, 40_000), optionsFor(BLOB, { onProgress }))
    expect(onProgress.mock.calls).toEqual([[40_000], [80_000], [100_000]])
  })

  test('refuses bytes without the digest that was announced before it looks at their id, and flushes nothing', async () => {
    const flush = vi.fn<() => Promise<void>>()
    const store = storeWith(() => ({ flush }))
    const announced = sha256Hex(Buffer.from('something else'))
    for (const id of [ANY, WRONG]) {
      const receiving = receiveBlob(store, HOLDER, bodyOf(BLOB.bytes), optionsFor(BLOB, { id, sha256: announced }))
      const evidence = { expected: digestField(announced), actual: digestField(BLOB.sha256) }
      await expect(receiving).rejects.toMatchObject({ code: 'digest_mismatch', evidence })
    }
    expect(flush).not.toHaveBeenCalled()
    await expectNothingLeft(store, BLOB)
  })

  test('takes bytes with the digest that was announced', async () => {
    const options = optionsFor(BLOB, { id: ANY, sha256: BLOB.sha256 })
    const { digests } = await receiveBlob(openMemoryBlobStore(), HOLDER, bodyOf(BLOB.bytes), options)
    expect(digests.sha256).toBe(BLOB.sha256)
  })

  test('refuses bytes that hash to something else, tells what, and flushes nothing', async () => {
    const flush = vi.fn<() => Promise<void>>()
    const store = storeWith(() => ({ flush }))
    const receiving = receiveBlob(store, HOLDER, bodyOf(BLOB.bytes), optionsFor(BLOB, { id: WRONG }))
    const failure = await receiving.catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'cid_mismatch', evidence: { expected: WRONG.text, actual: BLOB.sha256 } })
    expect(flush).not.toHaveBeenCalled()
    await expectNothingLeft(store, BLOB)
  })

  test('refuses a body that ends early', async () => {
    const store = openMemoryBlobStore()
    const receiving = receiveBlob(store, HOLDER, bodyOf(BLOB.bytes.subarray(1)), optionsFor(BLOB))
    await expectIncomplete(receiving, 99_999)
    await expectNothingLeft(store, BLOB)
  })

  test('refuses a body that is longer than declared', async () => {
    const store = openMemoryBlobStore()
    const body = bodyOf(Buffer.concat([BLOB.bytes, Buffer.from('x')]))
    const failure = await receiveBlob(store, HOLDER, body, optionsFor(BLOB)).catch((error: unknown) => error)
    expect(LadeError.has(failure, 'bad_request') && failure.evidence.reason).toMatch(/longer/)
    await expectNothingLeft(store, BLOB)
  })

  test('refuses a body whose connection breaks, with or without an error', async () => {
    for (const error of [undefined, Object.assign(new Error('aborted'), { code: 'ECONNRESET' })]) {
      const store = openMemoryBlobStore()
      const body = new PushedBody().push(BLOB.bytes.subarray(0, 50_000))
      const receiving = receiveBlob(store, HOLDER, body, optionsFor(BLOB))
      await expect.poll(() => body.deliveredBytes).toBe(50_000)
      body.break(error)
      const failure = await expectIncomplete(receiving, 50_000)
      expect(failure).toHaveProperty('cause', error)
      await expectNothingLeft(store, BLOB)
      expect(() => body.emit('error', new Error('once more'))).not.toThrow()
    }
  })

  test('refuses a body whose connection is gone already', async () => {
    const body = new PushedBody()
    body.break()
    await expectIncomplete(receiveBlob(openMemoryBlobStore(), HOLDER, body, optionsFor(BLOB)), 0)
  })

  test("gives the source's own LadeError back, such as a time-out", async () => {
    const timeout = new LadeError('body_timeout', { receivedBytes: 7 })
    const body = new PushedBody()
    const receiving = receiveBlob(openMemoryBlobStore(), HOLDER, body, optionsFor(BLOB))
    body.break(timeout)
    await expect(receiving).rejects.toBe(timeout)
  })

  test("gives the signal's reason back untouched: before, during and after the last byte", async () => {
    const reason = new Error('shutting down')
    const sent = [
      { bytes: BLOB.bytes, signal: AbortSignal.abort(reason) },
      { bytes: BLOB.bytes.subarray(0, 30_000), signal: abortSoon(reason).signal },
      { bytes: BLOB.bytes, signal: abortSoon(reason).signal },
    ]
    for (const { bytes, signal } of sent) {
      const store = openMemoryBlobStore()
      const receiving = receiveBlob(store, HOLDER, new PushedBody().push(bytes), optionsFor(BLOB, { signal }))
      await expect(receiving).rejects.toBe(reason)
      await expectNothingLeft(store, BLOB)
    }
  })

  test("gives the signal's reason back also when it comes during the flush", async () => {
    const controller = new AbortController()
    const reason = new Error('shutting down')
    const store = storeWith(() => ({ flush: async () => controller.abort(reason) }))
    const receiving = receiveBlob(store, HOLDER, bodyOf(BLOB.bytes), optionsFor(BLOB, { signal: controller.signal }))
    await expect(receiving).rejects.toBe(reason)
    await expectNothingLeft(store, BLOB)
  })

  test('gives back an error of its progress listener', async () => {
    const own = new Error('lease lost')
    const onProgress = () => {
      throw own
    }
    const store = openMemoryBlobStore()
    const receiving = receiveBlob(store, HOLDER, bodyOf(BLOB.bytes), optionsFor(BLOB, { onProgress }))
    await expect(receiving).rejects.toBe(own)
    await expectNothingLeft(store, BLOB)
  })

  test.each(['write', 'flush'] as const)(
    'error: a store that fails on %s keeps nothing and its error comes back',
    async (step) => {
      const failure = new LadeError('insufficient_storage', { retryAfterSeconds: 60 })
      const store = storeWith(() => ({
        [step]: async () => {
          throw failure
        },
      }))
      const body = bodyOf(BLOB.bytes)
      await expect(receiveBlob(store, HOLDER, body, optionsFor(BLOB))).rejects.toBe(failure)
      expect(body.listenerCount('data')).toBe(0)
      await expectNothingLeft(store, BLOB)
    },
  )

  test('tells the store which digest it expects, where the id or the sender says it', async () => {
    const raw = idOf('bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e')
    const expectedOf = async (options: Partial<SizedReceiveOptions>) => {
      const store = openMemoryBlobStore()
      const begin = store.begin.bind(store)
      let expected: string | undefined = 'never asked'
      store.begin = async (request) => {
        expected = request.expected
        return begin(request)
      }
      await receiveBlob(store, HOLDER, bodyOf(BLOB.bytes), optionsFor(BLOB, options)).catch(() => {})
      return expected
    }
    expect(await expectedOf({})).toBe(BLOB.sha256)
    expect(await expectedOf({ id: raw })).toBe(raw.sha256)
    expect(await expectedOf({ id: ANY })).toBeUndefined()
    expect(await expectedOf({ id: ANY, sha256: BLOB.sha256 })).toBe(BLOB.sha256)
    // A CAR has another digest than the root that names it.
    expect(await expectedOf({ id: raw, mayBeCar: true })).toBeUndefined()
    expect(await expectedOf({ id: raw, mayBeCar: true, sha256: BLOB.sha256 })).toBe(BLOB.sha256)
  })

  test('error: a store that cannot begin takes no byte of the body', async () => {
    const failure = new LadeError('insufficient_storage', { retryAfterSeconds: 60 })
    const store = openMemoryBlobStore()
    store.begin = async () => {
      throw failure
    }
    const body = bodyOf(BLOB.bytes)
    await expect(receiveBlob(store, HOLDER, body, optionsFor(BLOB))).rejects.toBe(failure)
    expect(body.deliveredBytes).toBe(0)
    expect(body.listenerCount('data')).toBe(0)
  })

  test('error: the first failure comes back when the abort fails too', async () => {
    const first = new LadeError('storage_failed', { retryAfterSeconds: 1 })
    const fail = (error: Error) => async () => {
      throw error
    }
    const store = storeWith(() => ({ write: fail(first), abort: fail(new Error('second')) }))
    await expect(receiveBlob(store, HOLDER, bodyOf(BLOB.bytes), optionsFor(BLOB))).rejects.toBe(first)
  })
})

describe('receiveInline', () => {
  test('collects a body in memory of its own', async () => {
    for (const chunkBytes of [1, 3, 1_000, 200_000]) {
      const blob = blobOf(seededBytes(5_000, chunkBytes))
      const { digests, bytes } = await receiveInline(bodyOf(blob.bytes, chunkBytes), optionsFor(blob))
      expect(digests.sha256).toBe(blob.sha256)
      expectBytes(bytes, blob.bytes)
      expect(bytes.buffer.byteLength).toBe(5_000)
    }
  })

  test('takes an empty body', async () => {
    const empty = blobOf('')
    const { digests, bytes } = await receiveInline(bodyOf(empty.bytes), optionsFor(empty))
    expect([digests.sha256, bytes.length]).toEqual([sha256Hex(new Uint8Array()), 0])
  })

  test('refuses a wrong digest, a short body, a long body and a broken one', async () => {
    const mismatch = receiveInline(bodyOf(BLOB.bytes), optionsFor(BLOB, { id: WRONG }))
    await expect(mismatch).rejects.toMatchObject({ code: 'cid_mismatch' })
    await expectIncomplete(receiveInline(bodyOf(BLOB.bytes.subarray(5)), optionsFor(BLOB)), 99_995)
    const long = receiveInline(bodyOf(Buffer.concat([BLOB.bytes, BLOB.bytes])), optionsFor(BLOB))
    await expect(long).rejects.toSatisfy((error) => LadeError.has(error, 'bad_request'))
    const body = new PushedBody().push(BLOB.bytes)
    const broken = receiveInline(body, optionsFor(BLOB))
    body.break()
    await expectIncomplete(broken, 100_000)
  })

  test("gives the signal's reason back untouched", async () => {
    const reason = new Error('shutting down')
    const receiving = receiveInline(new PushedBody(), optionsFor(BLOB, { signal: abortSoon(reason).signal }))
    await expect(receiving).rejects.toBe(reason)
  })
})

function abortSoon(reason: Error): AbortController {
  const controller = new AbortController()
  setTimeout(() => controller.abort(reason), 10)
  return controller
}

async function expectIncomplete(receiving: Promise<unknown>, receivedBytes: number): Promise<unknown> {
  const failure = await receiving.catch((error: unknown) => error)
  const evidence = LadeError.has(failure, 'incomplete_body') && failure.evidence
  expect(evidence).toEqual({ expectedBytes: BLOB.bytes.length, receivedBytes })
  return failure
}
