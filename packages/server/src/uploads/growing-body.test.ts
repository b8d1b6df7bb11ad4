import { LadeError } from '@lade/core/errors'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PushedBody } from '../blobs/testing-pushed-body.ts'
import { GrowingBody } from './growing-body.ts'

const never = new AbortController().signal
const CHUNKS = [Buffer.from('one'), Buffer.from('two'), Buffer.from('three')]

function bodyWith(allow: (receivedBytes: number) => Promise<number>, signal = never) {
  const source = new PushedBody()
  const progress: number[] = []
  const body = new GrowingBody(source, { allow, signal, onProgress: (bytes) => progress.push(bytes) })
  return { source, body, progress }
}

/** Collects what a body passes on, until it ends or fails. */
function read(body: GrowingBody): Promise<string> {
  const passed: Uint8Array[] = []
  return new Promise((resolve, reject) => {
    body.on('data', (chunk) => passed.push(chunk))
    body.on('end', () => resolve(Buffer.concat(passed).toString()))
    body.on('error', reject)
    body.resume()
  })
}

describe('a growing body', () => {
  test('passes everything on in order, and nothing before it is allowed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.string({ maxLength: 20 }).map((text) => Buffer.from(text)),
          { maxLength: 30 },
        ),
        fc.nat({ max: 100 }),
        fc.nat({ max: 40 }),
        async (chunks, beginBytes, aheadBytes) => {
          let [allowed, passed] = [0, 0]
          const { source, body } = bodyWith(async (received) => {
            await null
            allowed = received + aheadBytes
            return allowed
          })
          const begun = body.begin(beginBytes)
          for (const chunk of chunks) source.push(chunk)
          source.end()
          const sizeBytes = await begun
          const all = Buffer.concat(chunks)
          if (sizeBytes !== undefined) expect(sizeBytes).toBe(all.length)
          else expect(all.length).toBeGreaterThan(beginBytes)
          body.on('data', (chunk: Uint8Array) => {
            passed += chunk.length
            if (sizeBytes === undefined) expect(passed).toBeLessThanOrEqual(allowed)
          })
          expect(await read(body)).toBe(all.toString())
        },
      ),
    )
  })

  test('asks for no more while it is held back, and while it waits for an answer', async () => {
    let answer = (_bytes: number): void => {}
    const asked: number[] = []
    const { source, body } = bodyWith((received) => {
      asked.push(received)
      return new Promise((resolve) => {
        answer = resolve
      })
    })
    const begun = body.begin(2)
    for (const chunk of CHUNKS) source.push(chunk)
    expect(await begun).toBe(undefined)
    const reading = read(body)
    expect([asked, source.deliveredBytes]).toEqual([[3], 3])
    answer(6)
    await new Promise(setImmediate)
    expect([asked, source.deliveredBytes]).toEqual([[3, 11], 11])
    source.end()
    answer(11)
    expect(await reading).toBe('onetwothree')
  })

  test('error: ends with what does not allow it', async () => {
    const refusal = new LadeError('lease_lost', { retryAfterSeconds: 1 })
    const { source, body } = bodyWith(async () => {
      throw refusal
    })
    const begun = body.begin(0)
    source.push(Buffer.from('x'))
    await begun
    await expect(read(body)).rejects.toBe(refusal)
    expect(body.destroyed).toBe(true)
  })

  test('error: a source that breaks off is an incomplete body, at its beginning and later', async () => {
    for (const beginBytes of [0, 100]) {
      const { source, body } = bodyWith(async (received) => received)
      const begun = body.begin(beginBytes)
      source.push(Buffer.from('abc'))
      if (beginBytes === 0) await begun
      source.break(new Error('ECONNRESET'))
      const failed = beginBytes === 0 ? read(body) : begun
      if (beginBytes === 0) expect(body.destroyed).toBe(true)
      else await expect(failed).rejects.toMatchObject({ code: 'incomplete_body', evidence: { receivedBytes: 3 } })
    }
  })

  test('error: an abort ends its beginning, with its reason', async () => {
    const controller = new AbortController()
    const { body } = bodyWith(async (received) => received, controller.signal)
    const begun = body.begin(100)
    const reason = new LadeError('body_timeout', { receivedBytes: 0 })
    controller.abort(reason)
    await expect(begun).rejects.toBe(reason)
  })

  test('lets go of its source, which others can read from then on', async () => {
    const { source, body, progress } = bodyWith(async (received) => received)
    const begun = body.begin(0)
    source.push(Buffer.from('x'))
    await begun
    body.close()
    const rest: string[] = []
    source.on('data', (chunk) => rest.push(String(chunk)))
    source.resume()
    source.push(Buffer.from('rest'))
    source.break(new Error('ECONNRESET'))
    expect([rest, progress]).toEqual([['rest'], [1]])
  })
})
