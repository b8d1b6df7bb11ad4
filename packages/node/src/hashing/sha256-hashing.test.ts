import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Sha256Stream } from '@lade/core/dag'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hexOf } from './hex.ts'
import { sha256, sha256Hex } from './sha256.ts'
import { type BodySha256, loadRunStreams, sha256Hashing, sha256HashingWith } from './sha256-hashing.ts'
import { scatteredBytes, shared } from './testing-bodies.ts'

const MIB = 1024 * 1024

/** Where the addon can be built and can run, it has to be there. */
function canHaveAddon(): boolean {
  if (process.platform !== 'linux' || process.arch !== 'x64') return false
  const hasInstructions = /\bsha_ni\b/.test(readFileSync('/proc/cpuinfo', 'utf8'))
  return hasInstructions && spawnSync('cc', ['--version']).status === 0
}

function openStream(body: BodySha256): Sha256Stream {
  const stream = body.stream?.()
  if (stream === undefined) throw new TypeError('node:crypto has no streams')
  return stream
}

/** Hashes one message after the other on its own stream, each cut into these lengths, up to a call of `run`. */
function hashMessages(
  body: BodySha256,
  messages: readonly Uint8Array[],
  lengths: readonly number[] = [],
): Uint8Array[] {
  const stream = openStream(body)
  return messages.map((message) => {
    const digest = new Uint8Array(32)
    let at = 0
    for (const length of lengths) {
      stream.update(message.subarray(at, at + length))
      at += length
    }
    stream.end(message.subarray(at), digest)
    return digest
  })
}

describe('loadRunStreams', () => {
  test.runIf(canHaveAddon())(
    'has the addon where it can be built: run packages/node/native/build.mjs',
    { meta: { skippedBecause: 'the sha2-256 addon cannot be built here' } },
    () => {
      expect(loadRunStreams()).toBeInstanceOf(Function)
      expect(sha256Hashing.isNative).toBe(true)
    },
  )

  test.each([
    ['was not built', () => sha256Hex(readFileSync('/nowhere/sha256-streams.node'))],
    ['cannot run on this processor', () => ({})],
    ['takes other queues', () => ({ run: () => expect.unreachable() })],
    ['computes something else', () => ({ run: () => {} })],
  ])('answers undefined for an addon that %s', (_, load) => {
    expect(loadRunStreams(load)).toBeUndefined()
  })
})

describe('node:crypto in place of the addon', () => {
  test('hashes at once, without streams', () => {
    const hashing = sha256HashingWith(undefined)
    expect(hashing.isNative).toBe(false)
    const body = hashing.forBody()
    expect(body.stream).toBeUndefined()
    expect(hexOf(body.of(Buffer.from('abc')))).toBe(sha256Hex(Buffer.from('abc')))
    body.run()
  })
})

describe.runIf(sha256Hashing.isNative)(
  'streams of the addon',
  { meta: { skippedBecause: 'the sha2-256 addon is not built here' } },
  () => {
    const edges = [0, 1, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 121, 127, 128, 129, 191, 192, 193]
    const someLength = fc.oneof(
      fc.constantFrom(...edges),
      fc.nat({ max: 500 }),
      fc.nat({ max: 40_000 }),
      fc.constantFrom(MIB - 1, MIB),
    )
    const pool = scatteredBytes(MIB + 64, 7)
    const someMessage = fc
      .tuple(someLength, fc.nat({ max: 63 }))
      .map(([length, from]) => pool.subarray(from, from + length))
    const somePart = fc.oneof(fc.constantFrom(...edges), fc.nat({ max: 20_000 }))

    test.each(edges)('hash two messages of %i bytes', (length) => {
      const messages = [pool.subarray(0, length), pool.subarray(1, 1 + length)]
      const body = sha256Hashing.forBody()
      const digests = messages.flatMap((message) => hashMessages(body, [message]))
      body.run()
      expect(digests.map(hexOf)).toEqual(messages.map(sha256Hex))
    })

    test('give what node:crypto gives, however many there are, whatever they are cut into, whenever they run', () => {
      const someStream = fc.array(fc.tuple(someMessage, fc.array(somePart, { maxLength: 6 })), { maxLength: 5 })
      const someRuns = fc.infiniteStream(fc.boolean())
      fc.assert(
        fc.property(fc.array(someStream, { maxLength: 5 }), someRuns, (streams, runs) => {
          const body = sha256Hashing.forBody()
          const digests: Uint8Array[] = []
          const turns = streams.map(function* (messages): Generator<void> {
            const stream = openStream(body)
            for (const [message, lengths] of messages) {
              let at = 0
              for (const length of lengths) {
                yield stream.update(message.subarray(at, at + length))
                at += length
              }
              const digest = new Uint8Array(32)
              digests.push(digest)
              expected.push(message)
              yield stream.end(message.subarray(at), digest)
            }
          })
          const expected: Uint8Array[] = []
          while (turns.map((turn) => turn.next().done).includes(false)) if (runs.next().value) body.run()
          body.run()
          expect(digests.map(hexOf)).toEqual(expected.map(sha256Hex))
        }),
        { numRuns: 200 },
      )
    })

    test('of unequal lengths all come to their end', () => {
      const messages = [pool.subarray(0, MIB), pool.subarray(5, 15), pool.subarray(0, MIB / 2 + 3), pool.subarray(0, 0)]
      const body = sha256Hashing.forBody()
      const digests = messages.flatMap((message) => hashMessages(body, [message]))
      body.run()
      expect(digests.map(hexOf)).toEqual(messages.map(sha256Hex))
    })

    test('count the bits of a message beyond 32 bits', () => {
      const block = pool.subarray(0, MIB)
      const body = sha256Hashing.forBody()
      const streams = [openStream(body), openStream(body)]
      const reference = sha256.create()
      for (let turn = 0; turn < 513; turn += 1) {
        for (const stream of streams) stream.update(block)
        body.run()
        reference.update(block)
      }
      const digests = streams.map((stream) => {
        const digest = new Uint8Array(32)
        stream.end(new Uint8Array(), digest)
        return digest
      })
      body.run()
      const expected = hexOf(reference.digest())
      expect(digests.map(hexOf)).toEqual([expected, expected])
    })

    test('read shared memory, at any address', () => {
      const block = shared(pool)
      const messages = [block.subarray(3, 100_000), new Uint8Array(block.buffer, 61, 70_001)]
      const body = sha256Hashing.forBody()
      const digests = messages.flatMap((message) => hashMessages(body, [message], [1000, 64]))
      body.run()
      expect(digests.map(hexOf)).toEqual(messages.map(sha256Hex))
    })

    test('have read their bytes when run returns', () => {
      const body = sha256Hashing.forBody()
      const stream = openStream(body)
      const digest = new Uint8Array(32)
      const bytes = Buffer.from('abc')
      stream.update(bytes)
      body.run()
      bytes.fill(0)
      body.run()
      stream.end(Buffer.from('def'), digest)
      expect(hexOf(digest)).toBe('00'.repeat(32))
      body.run()
      expect(hexOf(digest)).toBe(sha256Hex(Buffer.from('abcdef')))
    })

    test('of one body know nothing of those of another', () => {
      const [one, other] = [sha256Hashing.forBody(), sha256Hashing.forBody()]
      const [digests, others] = [hashMessages(one, [pool]), hashMessages(other, [pool.subarray(1)])]
      one.run()
      expect(digests.map(hexOf)).toEqual([sha256Hex(pool)])
      expect(others.map(hexOf)).toEqual(['00'.repeat(32)])
      other.run()
      expect(others.map(hexOf)).toEqual([sha256Hex(pool.subarray(1))])
    })

    test('error: a digest has no room, and nothing that was queued stays', () => {
      const body = sha256Hashing.forBody()
      openStream(body).end(Buffer.from('abc'), new Uint8Array(31))
      const digests = hashMessages(body, [pool])
      expect(() => body.run()).toThrow(TypeError)
      body.run()
      expect(digests.map(hexOf)).toEqual(['00'.repeat(32)])
    })
  },
)

describe.runIf(sha256Hashing.isNative)(
  'the addon itself',
  { meta: { skippedBecause: 'the sha2-256 addon is not built here' } },
  () => {
    const run = loadRunStreams()
    const bytes = Buffer.from('abc')

    test.each([
      ['no queues', undefined],
      ['a queue without a state', [[]]],
      ['a state of another size', [[new Uint8Array(103)]]],
      ['bytes without a place for the digest', [[new Uint8Array(104), bytes]]],
      ['other numbers than bytes', [[new Uint8Array(104), new Float64Array(8), new Uint8Array(32)]]],
      ['a text', [[new Uint8Array(104), 'abc', new Uint8Array(32)]]],
    ])('error: refuses %s', (_, queues) => {
      expect(() => run?.(queues as unknown as Uint8Array[][])).toThrow(TypeError)
    })
  },
)
