import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryDir } from '../testing/harness.ts'
import { DealCursor } from './deal-cursor.ts'

const [ONE, TWO] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`]
const HASH = `0x${'ab'.repeat(32)}` as const
const known = async () => true

describe('DealCursor', () => {
  test('takes over what a prover of one contract left, and begins elsewhere for others', async () => {
    const path = join(await temporaryDir(), 'chain-cursor.json')
    const left = { chainId: 5, marketplace: ONE, blockHash: HASH, firstDealId: '41' }
    await writeFile(path, JSON.stringify(left))
    const cursor = await DealCursor.open(path, 5, known)
    expect([cursor.firstDealIdOf(ONE, 1n), cursor.firstDealIdOf(TWO, 100n)]).toEqual([41n, 100n])
    await cursor.moveTo(new Map([[TWO, 107n]]), HASH)
    // The contract that is not followed any more keeps its place.
    const again = await DealCursor.open(path, 5, known)
    expect([again.firstDealIdOf(ONE, 1n), again.firstDealIdOf(TWO, 100n)]).toEqual([41n, 107n])
  })

  test('is not believed about another chain, of another id or of the same', async () => {
    const path = join(await temporaryDir(), 'chain-cursor.json')
    const cursor = await DealCursor.open(path, 5, known)
    cursor.firstDealIdOf(ONE, 1n)
    await cursor.moveTo(new Map([[ONE, 9n]]), HASH)
    expect((await DealCursor.open(path, 6, known)).firstDealIdOf(ONE, 1n)).toBe(1n)
    expect((await DealCursor.open(path, 5, async () => false)).firstDealIdOf(ONE, 1n)).toBe(1n)
    expect((await DealCursor.open(path, 5, async (hash) => hash === HASH)).firstDealIdOf(ONE, 1n)).toBe(9n)
  })

  test('writes nothing before something is over, and writes when a reorganisation takes it back', async () => {
    const path = join(await temporaryDir(), 'chain-cursor.json')
    const cursor = await DealCursor.open(path, 5, known)
    cursor.firstDealIdOf(ONE, 1n)
    await cursor.moveTo(new Map([[ONE, 1n]]), HASH)
    await expect(readFile(path)).rejects.toThrow('ENOENT')
    await cursor.moveTo(new Map([[ONE, 3n]]), HASH)
    await cursor.moveTo(new Map([[ONE, 1n]]), HASH)
    expect((await DealCursor.open(path, 5, known)).firstDealIdOf(ONE, 1n)).toBe(1n)
  })
})
