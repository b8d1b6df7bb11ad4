import { CarBufferReader, CarWriter } from '@ipld/car'
import * as dagCbor from '@ipld/dag-cbor'
import * as dagJson from '@ipld/dag-json'
import * as dagPb from '@ipld/dag-pb'
import { blake2b } from '@noble/hashes/blake2.js'
import { blake3 } from '@noble/hashes/blake3.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { importer } from 'ipfs-unixfs-importer'
import { base16 } from 'multiformats/bases/base16'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { expect } from 'vitest'
import { blockFinder, blocksOf, type CarFault, type CarIndex } from './car-index.ts'
import { CarIndexer } from './car-indexer.ts'
import type { Block } from './load-block.ts'
import { varintBytes } from './varint.ts'

export const SHA2_256 = 0x12
export const BLAKE3 = 0x1e
export const BLAKE2B_256 = 0xb220

const HASHES: ReadonlyMap<number, (bytes: Uint8Array) => Uint8Array> = new Map([
  [SHA2_256, (bytes: Uint8Array) => sha256(new Uint8Array(bytes))],
  [BLAKE3, (bytes: Uint8Array) => blake3(new Uint8Array(bytes))],
  [BLAKE2B_256, (bytes: Uint8Array) => blake2b(new Uint8Array(bytes), { dkLen: 32 })],
])

export const hashes = (multihashCode: number) => HASHES.get(multihashCode)

export const utf8 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(new TextEncoder().encode(text))
export const fromUtf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
export const hex = (bytes: Uint8Array): string => base16.baseEncode(bytes)

/** Bytes that do not repeat within any chunk, the same for the same length. */
export function patternBytes(length: number): Uint8Array<ArrayBuffer> {
  let state = length + 1
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return state >>> 16
  })
}

/** Blocks by multihash, with a record of which were asked for. */
export class TestStore {
  readonly #blocks = new Map<string, Block>()
  readonly asked: string[] = []

  put(block: Block): CID {
    this.#blocks.set(hex(block.cid.multihash.bytes), block)
    return block.cid
  }

  delete(cid: CID): void {
    this.#blocks.delete(hex(cid.multihash.bytes))
  }

  /** All blocks, in the order in which they came. */
  get blocks(): Block[] {
    return [...this.#blocks.values()]
  }

  readonly getBlock = async (cid: CID): Promise<Uint8Array | undefined> => {
    this.asked.push(cid.toString())
    return this.#blocks.get(hex(cid.multihash.bytes))?.bytes
  }

  /** As importers and exporters of ipfs-unixfs take a store. */
  get asBlockstore() {
    return {
      put: async (cid: CID, bytes: unknown) => {
        if (!(bytes instanceof Uint8Array)) throw new TypeError('The importer stored something else than bytes')
        return this.put({ cid, bytes: new Uint8Array(bytes) })
      },
      get: (cid: CID) => {
        const block = this.#blocks.get(hex(cid.multihash.bytes))
        if (block === undefined) throw new Error(`${cid} is not stored`)
        return (async function* () {
          yield block.bytes
        })()
      },
    }
  }
}

export type ImporterOptions = NonNullable<Parameters<typeof importer>[2]>

/** What `ipfs-unixfs-importer` makes of some files; with paths, the root is the directory around them. */
export async function importFiles(
  files: readonly { readonly path?: string; readonly content: Uint8Array }[],
  options: ImporterOptions,
): Promise<{ readonly root: CID; readonly store: TestStore }> {
  const store = new TestStore()
  let root: CID | undefined
  for await (const { cid } of importer([...files], store.asBlockstore, options)) root = cid
  if (root === undefined) throw new TypeError('Nothing was imported')
  return { root, store }
}

/**
 * A UnixFS message of these fields, in this order: numbers as varints, bytes with their length. Unlike what `ipfs-unixfs`
 * 13.1.1 writes, sizes of 2 GiB and more are right.
 */
export function unixfsMessage(...fields: readonly (readonly [number, number | Uint8Array])[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(
    fields.flatMap(([field, value]) =>
      typeof value === 'number'
        ? [field * 8, ...varintBytes(value)]
        : [field * 8 + 2, ...varintBytes(value.length), ...value],
    ),
  )
}

/** A UnixFS file node with these parts after its own bytes. */
export function fileBlock(
  parts: readonly { readonly cid: CID; readonly sizeBytes: number }[],
  { data = new Uint8Array() }: { readonly data?: Uint8Array } = {},
): Block {
  const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, data.length)
  const sizes = parts.map((part) => [4, part.sizeBytes] as const)
  return pbBlock({
    Data: unixfsMessage([1, 2], [2, data], [3, sizeBytes], ...sizes),
    Links: parts.map(({ cid }) => ({ Hash: cid })),
  })
}

/** The CID of some bytes under one of the hashes above. */
export function cidOf(codec: number, bytes: Uint8Array, { hash = SHA2_256, version = 1 as 0 | 1 } = {}): CID {
  const digest = hashes(hash)?.(bytes)
  if (digest === undefined) throw new TypeError(`${hash} is not a hash of these tests`)
  return CID.create(version, codec, createDigest(hash, digest))
}

export const rawBlock = (bytes: Uint8Array): Block => ({ cid: cidOf(0x55, bytes), bytes })

export function pbBlock(node: dagPb.PBNode, options: { hash?: number; version?: 0 | 1 } = {}): Block {
  const bytes = dagPb.encode(node)
  return { cid: cidOf(dagPb.code, bytes, options), bytes }
}

export function cborBlock(value: unknown): Block {
  const bytes = dagCbor.encode(value)
  return { cid: cidOf(dagCbor.code, bytes), bytes }
}

export function jsonBlock(value: unknown): Block {
  const bytes = dagJson.encode(value)
  return { cid: cidOf(dagJson.code, bytes), bytes }
}

/** An identity CID that carries `bytes`. */
export const inlineCid = (codec: number, bytes: Uint8Array): CID => CID.createV1(codec, createDigest(0, bytes))

/** A CAR as `@ipld/car` writes it. */
export async function writeCar(roots: readonly CID[], blocks: readonly Block[]): Promise<Uint8Array<ArrayBuffer>> {
  const { writer, out } = CarWriter.create([...roots])
  const writing = (async () => {
    for (const block of blocks) await writer.put(block)
    await writer.close()
  })()
  const parts = await gather(out)
  await writing
  return concat(parts)
}

/** All that a generator gives. */
export async function gather<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const gathered: Item[] = []
  for await (const item of items) gathered.push(item)
  return gathered
}

export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Any bytes as a frame of a CAR, well formed or not. */
export const frame = (bytes: Uint8Array) => concat([Uint8Array.from(varintBytes(bytes.length)), bytes])
/** A section of any CID bytes. */
export const section = (cid: Uint8Array, bytes: Uint8Array) => frame(concat([cid, bytes]))
/** The header of a CAR, with anything in it. */
export const header = (value: unknown = { roots: [], version: 1 }) => frame(dagCbor.encode(value))
/** The sentence of a `malformed`; any other result as it is. */
export const reasonOf = (result: CarIndex | CarFault) =>
  'fault' in result && result.fault === 'malformed' ? result.reason : result

/** A CAR as `@ipld/car` reads it. */
export function readCar(bytes: Uint8Array): { readonly roots: string[]; readonly blocks: string[] } {
  const reader = CarBufferReader.fromBytes(bytes)
  return { roots: reader.getRoots().map(String), blocks: reader.blocks().map(({ cid }) => cid.toString()) }
}

/** Runs an indexer over `car`, in pieces of these lengths and then the rest. */
export function indexCar(
  car: Uint8Array,
  root: CID,
  {
    lengths = [],
    sizeBytes = car.length,
    maxBlocks,
    maxLinks,
  }: { lengths?: readonly number[]; sizeBytes?: number; maxBlocks?: number; maxLinks?: number } = {},
): CarIndex | CarFault {
  const indexer = new CarIndexer({
    root: { version: root.version, codec: root.code, multihash: root.multihash.bytes },
    sizeBytes,
    hashes,
    ...(maxBlocks === undefined ? {} : { maxBlocks }),
    ...(maxLinks === undefined ? {} : { maxLinks }),
  })
  let rest = car
  for (const length of lengths) {
    // Handed over in memory that is overwritten at once, as a pool of chunks does.
    const chunk = rest.slice(0, length)
    indexer.update(chunk)
    chunk.fill(0xee)
    rest = rest.subarray(length)
  }
  indexer.update(rest)
  return indexer.finish()
}

/** The index of a CAR that has to be a good one. */
export function goodIndex(...args: Parameters<typeof indexCar>): CarIndex {
  const result = indexCar(...args)
  if ('fault' in result) throw new Error(`A good CAR was refused: ${JSON.stringify(result)}`)
  return result
}

/** Checks that an index lists just the blocks given, each where its bytes are. */
export function expectBlocks(index: CarIndex, car: Uint8Array, blocks: readonly Block[]): void {
  const listed = [...blocksOf(index)]
  expect(listed.map(({ multihash }) => hex(multihash))).toEqual(blocks.map(({ cid }) => hex(cid.multihash.bytes)))
  expect(index.blockCount).toBe(blocks.length)
  const find = blockFinder(index)
  for (const [place, { cid, bytes }] of blocks.entries()) {
    const { offsetBytes = 0, sizeBytes = 0 } = find(cid.multihash.bytes) ?? {}
    expect(listed[place]).toMatchObject({ offsetBytes, sizeBytes })
    expect(hex(car.subarray(offsetBytes, offsetBytes + sizeBytes))).toBe(hex(bytes))
  }
  expect(find(cidOf(0x55, utf8('not there')).multihash.bytes)).toBeUndefined()
}
