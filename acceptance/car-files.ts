/**
 * CARs (version 1), by the library that IPFS tools write them with, and pieces of CARs for those that no library writes.
 *
 * @see https://ipld.io/specs/transport/car/carv1/
 */
import { CarWriter } from '@ipld/car'
import * as dagCbor from '@ipld/dag-cbor'
import * as dagJson from '@ipld/dag-json'
import { varint } from 'multiformats'
import { CID } from 'multiformats/cid'
import { expect } from 'vitest'
import type { Answer, Caller } from './caller.ts'
import { CODEC, hexOf } from './content-ids.ts'
import { type BLOCK_HASH, type Block, blockCid, type Dag, pieceCidOf } from './network-ids.ts'
import type { UploadResult } from './shapes.ts'
import { sampleBytes } from './target.ts'

export const CAR_TYPE = 'application/vnd.ipld.car'

/** The CAR of a whole DAG, root first, as `ipfs dag export` writes it. */
export async function carOf({ root, blocks }: Dag): Promise<Buffer> {
  const { writer, out } = CarWriter.create([root])
  const chunks: Uint8Array[] = []
  const written = (async () => {
    for (const block of [...blocks].reverse()) await writer.put(block)
    await writer.close()
  })()
  for await (const chunk of out) chunks.push(chunk)
  await written
  return Buffer.concat(chunks)
}

const lengthPrefixed = (bytes: Uint8Array): Buffer =>
  Buffer.concat([varint.encodeTo(bytes.length, new Uint8Array(varint.encodingLength(bytes.length))), bytes])

/** A CAR header of any content. */
export const carHeader = (content: unknown): Buffer => lengthPrefixed(dagCbor.encode(content))
/** A section: a CID, and whatever is to stand behind it. */
export const carSection = (cid: CID, bytes: Uint8Array): Buffer => lengthPrefixed(Buffer.concat([cid.bytes, bytes]))

/** A CAR of exactly these sections, under a header that names `roots`. */
export const carOfSections = (roots: readonly CID[], blocks: readonly Block[]): Buffer =>
  Buffer.concat([carHeader({ version: 1, roots }), ...blocks.map(({ cid, bytes }) => carSection(cid, bytes))])

export const uploadCar = (caller: Caller, cid: string, car: Buffer, contentType = CAR_TYPE): Promise<Answer> =>
  caller.upload(car, { cid, contentType })

/** Uploads a CAR that must be taken, and checks the result. */
export async function stageCar(caller: Caller, cid: string, car: Buffer): Promise<UploadResult> {
  const answer = await uploadCar(caller, cid, car)
  expect(answer.status, answer.body.toString()).toBe(200)
  const result = answer.json<UploadResult>()
  expect(result).toMatchObject({ cid, size: car.length, verified: true, sha256: hexOf(car), pieceCid: pieceCidOf(car) })
  return result
}

/** One block, as the gateway gives it. */
export const rawBlock = (caller: Caller, cid: CID): Promise<Answer> => caller.get(`/ipfs/${cid}?format=raw`)

/** Checks that the gateway has each of these blocks. */
export async function expectBlocks(caller: Caller, blocks: readonly Block[]): Promise<void> {
  for (const { cid, bytes } of blocks) {
    const answer = await rawBlock(caller, cid)
    expect(answer.status, `${cid}`).toBe(200)
    expect(answer.body.equals(bytes), `${cid}`).toBe(true)
  }
}

export const blockOf = (codec: number, hash: keyof typeof BLOCK_HASH, bytes: Uint8Array): Block => ({
  cid: CID.decode(blockCid(codec, hash, bytes)),
  bytes,
})
export const cborBlock = (value: unknown, hash: keyof typeof BLOCK_HASH = 'sha256'): Block =>
  blockOf(CODEC.dagCbor, hash, dagCbor.encode(value))
export const rawLeaf = (sizeBytes = 100): Block => blockOf(CODEC.raw, 'sha256', sampleBytes(sizeBytes))

/** A tree of dag-cbor with leaves of other codecs and hashes below it. */
export function cborTree(): Dag {
  const json = blockOf(CODEC.dagJson, 'blake3', dagJson.encode({ random: sampleBytes(8).toString('hex') }))
  const leaves = [rawLeaf(), rawLeaf(), json, blockOf(CODEC.raw, 'blake2b256', sampleBytes(50))]
  const inner = cborBlock({ of: leaves.map(({ cid }) => cid) })
  const root = cborBlock({ inner: [inner.cid, inner.cid], leaf: leaves[0]?.cid, inline: CID.parse('bafkqaaa') })
  return { root: root.cid, blocks: [...leaves, inner, root] }
}
