import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LevelCache } from './level-cache.ts'

/** Names of the same folder. */
const rootOf = (number: number): string => `ab${number.toString(16).padStart(62, '0')}`
const nodesOf = (byte: number, sizeBytes = 1024): Uint8Array => new Uint8Array(sizeBytes).fill(byte)

describe('LevelCache', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-levels-'))
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  test('gives back what was set, also to a later process, and nothing else', async () => {
    const levels = new LevelCache({ dir })
    await levels.set(rootOf(1), nodesOf(1))
    for (const cache of [levels, new LevelCache({ dir })]) {
      expect(new Uint8Array((await cache.get(rootOf(1))) ?? [])).toEqual(nodesOf(1))
      expect(await cache.get(rootOf(2))).toBeUndefined()
    }
    expect(statSync(join(dir, 'ab')).mode & 0o777).toBe(0o700)
    expect(statSync(join(dir, 'ab', rootOf(1))).mode & 0o777).toBe(0o600)
  })

  test('forgets what was used longest ago when its memory is full', async () => {
    const levels = new LevelCache({ memoryBytes: 3000 })
    await levels.set(rootOf(1), nodesOf(1))
    await levels.set(rootOf(2), nodesOf(2))
    await levels.get(rootOf(1))
    await levels.set(rootOf(3), nodesOf(3))
    const found = await Promise.all([1, 2, 3].map(async (number) => (await levels.get(rootOf(number))) !== undefined))
    expect(found).toEqual([true, false, true])
  })

  test('removes the oldest files of a folder that is full', async () => {
    const levels = new LevelCache({ dir, filesPerFolder: 8 })
    for (let number = 0; number < 9; number += 1) {
      await levels.set(rootOf(number), nodesOf(number))
      const file = join(dir, 'ab', rootOf(number))
      if (number < 8) utimesSync(file, number + 1, number + 1)
    }
    expect(readdirSync(join(dir, 'ab')).toSorted()).toEqual([2, 3, 4, 5, 6, 7, 8].map(rootOf))
  })

  test('has no files for short levels, where the room is needed, or where they cannot be', async () => {
    await new LevelCache({ dir }).set(rootOf(1), nodesOf(1, 992))
    await new LevelCache({ dir, minFreeBytes: Number.MAX_SAFE_INTEGER }).set(rootOf(2), nodesOf(2))
    expect(readdirSync(dir, { recursive: true })).toEqual(['ab'])
    writeFileSync(join(dir, 'file'), '')
    const levels = new LevelCache({ dir: join(dir, 'file') })
    await levels.set(rootOf(3), nodesOf(3))
    expect(await levels.get(rootOf(3))).toEqual(nodesOf(3))
  })

  test('gives turns one at a time, also after one that failed', async () => {
    const levels = new LevelCache()
    const order: string[] = []
    const first = Promise.withResolvers<void>()
    const turns = [
      levels.inTurn(async () => {
        order.push('first begins')
        await first.promise
        order.push('first ends')
        throw new Error('failed')
      }),
      levels.inTurn(async () => order.push('last')),
    ]
    first.resolve()
    const outcomes = await Promise.allSettled(turns)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(order).toEqual(['first begins', 'first ends', 'last'])
  })
})
