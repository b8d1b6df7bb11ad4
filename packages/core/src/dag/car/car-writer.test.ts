import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { describe, expect, test } from 'vitest'
import { carHeader, carSection } from './car-writer.ts'
import { BLAKE2B_256, cborBlock, cidOf, concat, hex, pbBlock, rawBlock, readCar, writeCar } from './testing-cars.ts'

describe('carHeader and carSection', () => {
  test('write what @ipld/car writes, which reads it', async () => {
    const blocks = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 300 }).map(rawBlock),
        fc.uint8Array({ maxLength: 300 }).map((bytes) => ({ cid: cidOf(0x55, bytes, { hash: BLAKE2B_256 }), bytes })),
        fc.string().map((text) => cborBlock({ text })),
        fc.string().map((Name) => pbBlock({ Links: [{ Hash: CID.parse('bafkqaaa'), Name }] }, { version: 0 })),
      ),
    )
    await fc.assert(
      fc.asyncProperty(blocks, blocks, async (rooted, more) => {
        const roots = rooted.map(({ cid }) => cid)
        const all = [...rooted, ...more]
        const car = concat([
          carHeader(roots),
          ...all.flatMap(({ cid, bytes }) => [carSection(cid, bytes.length), bytes]),
        ])
        expect(hex(car)).toBe(hex(await writeCar(roots, all)))
        expect(readCar(car)).toEqual({ roots: roots.map(String), blocks: all.map(({ cid }) => cid.toString()) })
      }),
    )
  })

  test('write the header of the empty identity CID', () => {
    expect(hex(carHeader([CID.parse('bafkqaaa')]))).toBe('19a265726f6f747381d82a450001550000' + '6776657273696f6e01')
    expect(carHeader([CID.parse('bafkqaaa')]).length).toBe(26)
  })

  test('write lengths of several bytes', () => {
    const { cid } = rawBlock(new Uint8Array())
    expect(hex(carSection(cid, 2 ** 21).subarray(0, 4))).toBe('a4808001')
  })
})
