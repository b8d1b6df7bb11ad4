import * as dagCbor from '@ipld/dag-cbor'
import { answerOf, walkDag } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { measuredResult } from '@lade/node/budget/measured'
import { WorkBudget } from '@lade/node/budget/work-budget'
import { base58btc } from 'multiformats/bases/base58'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { sha256 } from 'multiformats/hashes/sha2'
import { expect, onTestFinished, test } from 'vitest'
import { BlockReadings } from './block-readings.ts'
import type { BlockSource } from './block-source.ts'
import { DagReader, type DagReaderDeps } from './dag-reader.ts'

const ME = 'ip:192.0.2.7'

interface Block {
  readonly cid: CID
  readonly bytes: Uint8Array
}

async function block(codec: number, bytes: Uint8Array): Promise<Block> {
  return { cid: CID.createV1(codec, await sha256.digest(bytes)), bytes }
}

const cborBlock = (value: unknown): Promise<Block> => block(0x71, dagCbor.encode(value))
const inline = (codec: number, bytes: Uint8Array): CID => CID.createV1(codec, createDigest(0, bytes))

/** Links of dag-json in base58, each as long as one may be. */
function jsonAttack(): Promise<Block> {
  const link = `{"/":"${inline(0x55, new Uint8Array(365).fill(255)).toString(base58btc)}"}`
  return block(0x0129, Buffer.from(`[${Array.from({ length: 2000 }, () => link).join(',')}]`))
}

/** Links to empty blocks, which are in them. */
function cborAttack(): Promise<Block> {
  const count = 65_536
  const bytes = Buffer.alloc(5 + 8 * count)
  bytes.writeUInt8(0x9a)
  bytes.writeUInt32BE(count, 1)
  for (let at = 5; at < bytes.length; at += 8) bytes.set([0xd8, 0x2a, 0x45, 0, 1, 0x55, 0, 0], at)
  return block(0x71, bytes)
}

async function pbAttack(count = 47_000): Promise<Block> {
  const { bytes } = CID.createV1(0x70, await sha256.digest(Uint8Array.of(1)))
  const link = Buffer.concat([Uint8Array.of(0x12, bytes.length + 2, 0x0a, bytes.length), bytes])
  return block(0x70, Buffer.concat(Array.from({ length: count }, () => link)))
}

interface Harness {
  readonly budget: WorkBudget
  readonly readings: BlockReadings
  readonly reader: (options?: Partial<DagReaderDeps>) => DagReader
  /** How often a block was read from the store. */
  readonly loads: () => number
}

function harnessOf(blocks: readonly Block[], limitMs = 5000): Harness {
  const byName = new Map(blocks.map(({ cid, bytes }) => [cid.toString(), bytes]))
  let loads = 0
  const bytesOf = (cid: CID) => (cid.multihash.code === 0 ? cid.multihash.digest : byName.get(cid.toString()))
  const source: Pick<BlockSource, 'find' | 'read'> = {
    async find(cid) {
      const sizeBytes = bytesOf(cid)?.length
      return sizeBytes === undefined ? undefined : { cid, sizeBytes, place: { kind: 'identity' } }
    },
    async read({ cid }) {
      loads += 1
      return bytesOf(cid) ?? expect.fail('not here')
    },
  }
  const budget = new WorkBudget({ log: { warn: () => {} }, networkOf: () => undefined, limitMs })
  const readings = new BlockReadings(budget)
  onTestFinished(() => readings.close())
  const deps = { source: source as BlockSource, readings, budget, principal: ME }
  return { budget, readings, reader: (options) => new DagReader({ ...deps, ...options }), loads: () => loads }
}

async function walkAll(reader: DagReader, root: CID, dups = false): Promise<number> {
  let count = 0
  for await (const { bytes } of walkDag({ root, getBlock: reader, dups })) count += bytes.length > 0 ? 1 : 0
  return count
}

/** A binary tree of which every level is one block. */
async function doubling(levels: number): Promise<Block[]> {
  const blocks = [await cborBlock('leaf')]
  for (let level = 0; level < levels; level += 1) {
    const { cid } = blocks[0] ?? expect.fail()
    blocks.unshift(await cborBlock([cid, cid]))
  }
  return blocks
}

test.each([
  ['2,000 long links in dag-json', jsonAttack],
  ['65,536 inline links in dag-cbor', cborAttack],
  ['47,000 links in dag-pb', () => pbAttack()],
])('a block of %s is read on a thread, once for all who ask', async (_title, makeBlock) => {
  const attack = await makeBlock()
  const { cid, bytes } = attack
  const other = await block(0x71, new Uint8Array(5000))
  const { budget, readings, reader } = harnessOf([attack, other])
  await reader().read(other.cid, { ask: 'links' })
  const { processorMs: inPlaceMs } = measuredResult(() => answerOf({ ask: 'links' }, cid.code, bytes))
  const before = process.threadCpuUsage()
  const readers = Array.from({ length: 20 }, () => reader())
  const answers = await Promise.all(readers.map((each) => each.read(cid, { ask: 'links' })))
  const { user, system } = process.threadCpuUsage(before)
  for (const { answer } of answers) expect(answer).toBe(answers[0]?.answer)
  expect(answers[0]?.answer).toHaveProperty('linkCount')
  expect(readings.readCount).toBe(2)
  // Twenty readings would have taken twenty times as long. A collection of garbage may fall into them.
  expect((user + system) / 1000).toBeLessThan(4 * inPlaceMs)
  for (const each of readers) each.settle()
  expect(budget.usedMs(ME)).toBeGreaterThan(inPlaceMs / 4)
})

test('a block that is not sent is loaded once, however many ask', async () => {
  const attack = await cborAttack()
  const { reader, loads } = harnessOf([attack])
  const { block: first, answer } = await reader({ isSent: false }).read(attack.cid, { ask: 'links' })
  expect(first.bytes.length).toBe(attack.bytes.length)
  const again = await reader({ isSent: false }).read(attack.cid, { ask: 'links' })
  expect(again.answer).toBe(answer)
  expect([again.block.bytes.length, loads()]).toEqual([0, 1])
  expect((await reader().read(attack.cid, { ask: 'links' })).block.bytes).toEqual(attack.bytes)
})

test('a walk gives up the event loop every few milliseconds, also where nothing is waited for', async () => {
  const leaf = await cborBlock('leaf')
  const root = await cborBlock(Array.from({ length: 40_000 }, () => leaf.cid))
  const { reader } = harnessOf([leaf, root])
  let turns = 0
  let isOver = false
  const countTurns = (): void => {
    turns += 1
    if (!isOver) setImmediate(countTurns)
  }
  setImmediate(countTurns)
  expect(await walkAll(reader(), root.cid)).toBe(2)
  isOver = true
  // 40,000 links of 2 µs, in slices of 4 ms.
  expect(turns).toBeGreaterThanOrEqual(15)
})

test('a walk ends at as many blocks and links as a CAR may have, each time that they come', async () => {
  const blocks = await doubling(40)
  const [root] = blocks
  if (root === undefined) return expect.fail()
  const { reader } = harnessOf(blocks)
  const refused = {
    code: 'not_acceptable',
    evidence: { reason: 'The DAG has more than 1000 blocks. Request parts of it.' },
  }
  await expect(walkAll(reader({ maxBlocks: 1000 }), root.cid, true)).rejects.toMatchObject(refused)
  await expect(walkAll(reader({ maxLinks: 1000 }), root.cid, true)).rejects.toMatchObject({ code: 'not_acceptable' })
  expect(await walkAll(reader({ maxBlocks: 1000, maxLinks: 1000 }), root.cid)).toBe(41)
})

test('the links of inline blocks count', async () => {
  const nested = inline(0x71, dagCbor.encode(Array.from({ length: 9 }, () => inline(0x55, new Uint8Array()))))
  const root = await cborBlock(Array.from({ length: 100 }, () => nested))
  const { reader } = harnessOf([root])
  expect(await walkAll(reader({ maxLinks: 1000 }), root.cid)).toBe(1)
  await expect(walkAll(reader({ maxLinks: 999 }), root.cid)).rejects.toMatchObject({ code: 'not_acceptable' })
})

test('a walk that costs more than its bytes pay for is ended, and one that sends enough is not', async () => {
  const blocks = await doubling(13)
  const [root] = blocks
  if (root === undefined) return expect.fail()
  const { budget, reader } = harnessOf(blocks, 1_000_000)
  const failure = await walkAll(reader({ maxUnpaidMs: 500 }), root.cid, true).catch((error: unknown) => error)
  expect(LadeError.has(failure, 'over_budget') && failure.evidence).toMatchObject({ work: 'links', limit: 500 })
  expect(budget.counters().heldBack).toEqual([{ work: 'links', how: 'closed', count: 1 }])
  const paid = reader({ maxUnpaidMs: 500 })
  paid.moved(1024 ** 3)
  let count = 0
  for await (const _block of walkDag({ root: root.cid, getBlock: paid, dups: true })) {
    count += 1
    paid.moved(60_000)
  }
  expect(count).toBe(2 ** 14 - 1)
})

test('a walk of somebody who is over the budget goes on slowly, and says so', async () => {
  const blocks = await doubling(6)
  const [root] = blocks
  if (root === undefined) return expect.fail()
  const { budget, reader } = harnessOf(blocks, 5)
  budget.spend({ principal: ME, work: 'links', processorMs: 1000 })
  expect(await walkAll(reader(), root.cid, true)).toBe(2 ** 7 - 1)
  expect(budget.counters().heldBack).toEqual([{ work: 'links', how: 'slowed', count: 1 }])
})

test('a walk ends when nobody waits for it', async () => {
  const blocks = await doubling(40)
  const [root] = blocks
  if (root === undefined) return expect.fail()
  const { reader } = harnessOf(blocks)
  const gone = new AbortController()
  const walk = walkAll(reader({ signal: gone.signal }), root.cid, true)
  setImmediate(() => gone.abort(new Error('gone')))
  await expect(walk).rejects.toThrow('gone')
})

test('somebody else reads the block when the one who was to read it has left', async () => {
  const attack = await pbAttack(2000)
  const other = await pbAttack(10_000)
  const { readings, reader, loads } = harnessOf([attack, other])
  const gone = new AbortController()
  // The thread is busy with the other block meanwhile.
  const busy = reader().read(other.cid, { ask: 'links' })
  const first = reader({ signal: gone.signal }).read(attack.cid, { ask: 'links' })
  const second = reader().read(attack.cid, { ask: 'links' })
  await new Promise((resolve) => setImmediate(resolve))
  gone.abort(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  expect((await second).answer).toMatchObject({ linkCount: 2000 })
  await busy
  expect([readings.readCount, loads()]).toEqual([2, 2])
})

test('error: a block that is not here is missing, and one that does not decode is no list of links', async () => {
  const garbage = await block(0x71, new Uint8Array(5000).fill(0xff))
  const { reader } = harnessOf([garbage])
  expect((await reader().read(garbage.cid, { ask: 'links' })).answer).toEqual({ fault: 'undecodable' })
  const absent = await cborBlock('absent')
  await expect(reader().load(absent.cid)).rejects.toMatchObject({ fault: 'missing' })
})
