import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { expect, test } from 'vitest'
import { carHeader, carSection } from './car-writer.ts'
import { splitCar } from './split-car.ts'

const blockOf = async (text: string) => {
  const bytes = new TextEncoder().encode(text)
  return { bytes, cid: CID.createV1(0x55, await sha256.digest(bytes)) }
}
const carOf = (blocks: readonly { readonly cid: CID; readonly bytes: Uint8Array }[]) =>
  new Uint8Array(
    Buffer.concat([carHeader([]), ...blocks.flatMap(({ cid, bytes }) => [carSection(cid, bytes.length), bytes])]),
  )

test('a CAR is cut into its blocks in their order, empty ones and repeated ones too', async () => {
  const blocks = await Promise.all(['one', '', 'two', 'one'].map(blockOf))
  const found = splitCar(carOf(blocks))
  if ('fault' in found) throw new Error(found.reason)
  expect(found.map(({ cid, data }) => [cid, Buffer.from(data).toString()])).toEqual(
    blocks.map(({ cid, bytes }) => [cid.toString(), Buffer.from(bytes).toString()]),
  )
  expect(splitCar(carOf([]))).toEqual([])
})

test('bytes that are not a whole CAR are a fault', async () => {
  const whole = carOf([await blockOf('one'), await blockOf('two')])
  for (const bytes of [new Uint8Array(), whole.subarray(0, -1), whole.subarray(1), new Uint8Array([0])]) {
    expect(splitCar(bytes)).toMatchObject({ fault: 'malformed', reason: expect.stringMatching(/\.$/) })
  }
})
