import { padFr32 } from '@lade/core/piece'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFr32Kernel, READ_AHEAD_BYTES } from './fr32-wasm.ts'
import { scatteredBytes } from './testing-bodies.ts'

const PAGE_BYTES = 65_536

describe('pad', () => {
  const { memory, pad } = createFr32Kernel(2 * PAGE_BYTES)

  test('spreads bits as core does, at any address, and writes nothing else', () => {
    const quads = fc.integer({ min: 1, max: 20 })
    const places = fc.tuple(fc.nat({ max: 500 }), fc.nat({ max: 500 }))
    fc.assert(
      fc.property(quads, places, fc.integer(), (quads, [rawAt, gap], seed) => {
        const raw = scatteredBytes(127 * quads, seed)
        const leavesAt = rawAt + raw.length + READ_AHEAD_BYTES + gap
        memory.fill(0xaa)
        memory.set(raw, rawAt)
        pad(rawAt, rawAt + raw.length, leavesAt)
        const leaves = padFr32(raw)
        expect(Buffer.compare(memory.subarray(leavesAt, leavesAt + leaves.length), leaves)).toBe(0)
        expect(Buffer.compare(memory.subarray(rawAt, rawAt + raw.length), raw)).toBe(0)
        memory.fill(0xaa, leavesAt, leavesAt + leaves.length)
        memory.fill(0xaa, rawAt, rawAt + raw.length)
        expect(memory.every((byte) => byte === 0xaa)).toBe(true)
      }),
    )
  })

  test('reads up to the very end of the memory', () => {
    const raw = scatteredBytes(127, 5)
    const rawAt = memory.length - READ_AHEAD_BYTES - raw.length
    memory.set(raw, rawAt)
    pad(rawAt, rawAt + raw.length, 0)
    expect(Buffer.compare(memory.subarray(0, 128), padFr32(raw))).toBe(0)
  })
})

describe('truncate', () => {
  test('clears the top two bits of each node and nothing else', () => {
    const { memory, truncate } = createFr32Kernel(PAGE_BYTES)
    const nodes = 33
    const before = scatteredBytes(32 * (nodes + 2), 7).fill(0xff, 32, 64)
    memory.set(before)
    truncate(32, 32 * (nodes + 1))
    const expected = Buffer.from(before)
    for (let node = 1; node <= nodes; node += 1) expected[32 * node + 31] = (before[32 * node + 31] ?? 0) & 0x3f
    expect(Buffer.compare(memory.subarray(0, before.length), expected)).toBe(0)
  })
})

test('the memory has whole pages, as many as are asked for', () => {
  expect(createFr32Kernel(PAGE_BYTES).memory.length).toBe(PAGE_BYTES)
  expect(createFr32Kernel(200 * PAGE_BYTES + 1).memory.length).toBe(201 * PAGE_BYTES)
})
