import fc from 'fast-check'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'
import type { CID } from 'multiformats/cid'
import { decode as decodeDigest } from 'multiformats/hashes/digest'
import { beforeAll, describe, expect, test } from 'vitest'
import { blockFinder, blocksOf, type CarIndex } from './car-index.ts'
import type { Block } from './load-block.ts'
import {
  BLAKE3,
  cborBlock,
  cidOf,
  goodIndex,
  hashes,
  hex,
  importFiles,
  indexCar,
  inlineCid,
  jsonBlock,
  patternBytes,
  rawBlock,
  utf8,
  writeCar,
} from './testing-cars.ts'
import { walkDag } from './walk-dag.ts'

interface Car {
  readonly root: CID
  readonly bytes: Uint8Array
}

/** A UnixFS file, a directory, and a mixed DAG with every kind of link. */
const cars: Car[] = []

beforeAll(async () => {
  const file = await importFiles([{ content: patternBytes(700) }], {
    rawLeaves: false,
    chunker: fixedSize({ chunkSize: 100 }),
    layout: balanced({ maxChildrenPerNode: 3 }),
  })
  const directory = await importFiles(
    Array.from({ length: 6 }, (_, number) => ({ path: `${number}`, content: utf8(`content ${number}`) })),
    { wrapWithDirectory: true, shardSplitThresholdBytes: 1 },
  )
  const leaf = { cid: cidOf(0x55, utf8('leaf'), { hash: BLAKE3 }), bytes: utf8('leaf') }
  const inner = jsonBlock({ leaf: leaf.cid, inline: inlineCid(0x55, utf8('inline')) })
  const mixed = cborBlock([inner.cid, rawBlock(utf8('raw')).cid, inner.cid])
  const toCar = async (root: CID, blocks: readonly Block[]) =>
    cars.push({ root, bytes: await writeCar([root], blocks) })
  await toCar(file.root, file.store.blocks)
  await toCar(directory.root, directory.store.blocks)
  await toCar(mixed.cid, [mixed, inner, leaf, rawBlock(utf8('raw'))])
})

/** Fails unless every block listed is in `car` and hashes to its multihash, and the DAG under `root` is whole. */
async function expectTrue(index: CarIndex, car: Uint8Array, root: CID): Promise<void> {
  for (const { multihash, offsetBytes, sizeBytes } of blocksOf(index)) {
    const { code, digest } = decodeDigest(multihash)
    expect(offsetBytes + sizeBytes).toBeLessThanOrEqual(car.length)
    expect(hex(hashes(code)?.(car.subarray(offsetBytes, offsetBytes + sizeBytes)) ?? new Uint8Array())).toBe(
      hex(digest),
    )
  }
  const find = blockFinder(index)
  const getBlock = async (cid: CID) => {
    const block = find(cid.multihash.bytes)
    return block && car.subarray(block.offsetBytes, block.offsetBytes + block.sizeBytes)
  }
  for await (const { bytes } of walkDag({ root, getBlock })) expect(bytes).toBeInstanceOf(Uint8Array)
}

describe('CarIndexer, over any input', () => {
  test('the size of chunks changes nothing', () => {
    for (const { root, bytes } of cars) {
      const whole = goodIndex(bytes, root)
      fc.assert(
        fc.property(fc.array(fc.oneof(fc.nat({ max: 9 }), fc.nat({ max: 400 })), { maxLength: 200 }), (lengths) => {
          expect(indexCar(bytes, root, { lengths })).toEqual(whole)
        }),
      )
      expect(indexCar(bytes, root, { lengths: new Array(bytes.length).fill(1) })).toEqual(whole)
    }
  })

  test('a byte that is changed, anywhere, gives a fault or an index that is true', async () => {
    for (const { root, bytes } of cars) {
      let faults = 0
      for (let place = 0; place < bytes.length; place += 1) {
        const changed = bytes.slice()
        changed[place] = (changed[place] ?? 0) ^ (1 << (place % 8))
        const result = indexCar(changed, root, { lengths: [place % 97] })
        if ('fault' in result) faults += 1
        else await expectTrue(result, changed, root)
      }
      // Only the roots in the header can be changed without harm.
      expect(bytes.length - faults).toBeLessThanOrEqual(36)
    }
  })

  test('many changes at once give a fault or an index that is true', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0, 1, 2),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 6 }),
        async (number, changes) => {
          const { root, bytes } = cars[number] ?? expect.fail()
          const changed = bytes.slice()
          for (const [place, byte] of changes) changed[place % bytes.length] = byte
          const result = indexCar(changed, root)
          if (!('fault' in result)) await expectTrue(result, changed, root)
        },
      ),
    )
  })

  test('a CAR that ends early, anywhere, is no CAR or lacks blocks', () => {
    for (const { root, bytes } of cars) {
      for (let length = 0; length < bytes.length; length += 1) {
        const cut = bytes.subarray(0, length)
        // With the length that was announced, and with that which it has.
        expect(indexCar(cut, root, { sizeBytes: bytes.length })).toHaveProperty('fault')
        expect(indexCar(cut, root)).toHaveProperty('fault')
      }
    }
  })

  test('any bytes are answered, and never by an error', () => {
    const root = cars[0]?.root ?? expect.fail()
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat({ max: 40 })), (bytes, lengths) => {
        expect(indexCar(bytes, root, { lengths })).toHaveProperty('fault')
      }),
    )
  })

  test('any order of sections gives the same blocks', async () => {
    const { root, store } = await importFiles([{ content: patternBytes(700) }], {
      chunker: fixedSize({ chunkSize: 100 }),
      layout: balanced({ maxChildrenPerNode: 3 }),
    })
    const order = fc.shuffledSubarray(store.blocks, { minLength: store.blocks.length })
    await fc.assert(
      fc.asyncProperty(order, async (blocks) => {
        const index = goodIndex(await writeCar([root], blocks), root)
        expect(index).toMatchObject({ fileSizeBytes: 700, blockCount: blocks.length })
        expect([...blocksOf(index)].map(({ multihash }) => hex(multihash))).toEqual(
          blocks.map(({ cid }) => hex(cid.multihash.bytes)),
        )
      }),
    )
  })
})
