import { CarBufferReader, CarWriter } from '@ipld/car'
import * as dagCbor from '@ipld/dag-cbor'
import { type ImportContent, importer } from 'ipfs-unixfs-importer'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'

/** A DAG as the reference importer makes it. */
export interface TestDag {
  readonly root: CID
  /** Every block by its CID as text, those below before those above. */
  readonly blocks: ReadonlyMap<string, Uint8Array>
}

/** Bytes that repeat nowhere, the same for the same seed. */
export function patternBytes(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length)
  let state = seed
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    bytes[index] = state >>> 16
  }
  return bytes
}

export interface ImportOptions {
  readonly profile?: 'unixfs-v0-2015' | 'unixfs-v1-2025'
  /** Directories of more bytes of names than this are sharded. */
  readonly shardSplitThresholdBytes?: number
}

/** The DAG of one file. */
export async function fileDag(bytes: Uint8Array, options: ImportOptions = {}): Promise<TestDag> {
  return dagOf([{ content: toIterable(bytes) }], options)
}

/** The DAG of a directory, by the paths of the files in it. */
export async function directoryDag(files: Record<string, Uint8Array>, options: ImportOptions = {}): Promise<TestDag> {
  const entries = Object.entries(files)
  return dagOf(
    entries.map(([path, bytes]) => ({ path, content: toIterable(bytes) })),
    { ...options, wrapWithDirectory: true },
  )
}

/** One dag-cbor block of `value`, in front of the blocks that it links to. */
export async function cborDag(value: unknown, blocks: TestDag['blocks'] = new Map()): Promise<TestDag> {
  const bytes = dagCbor.encode(value)
  const root = CID.createV1(dagCbor.code, await sha256.digest(bytes))
  return { root, blocks: new Map([...blocks, [root.toString(), bytes]]) }
}

async function dagOf(
  entries: readonly { readonly path?: string; readonly content: ImportContent }[],
  options: object,
): Promise<TestDag> {
  const blocks = new Map<string, Uint8Array>()
  const store = {
    async put(cid: CID, bytes: unknown) {
      if (!(bytes instanceof Uint8Array)) throw new TypeError('the importer stored something else than bytes')
      blocks.set(cid.toString(), bytes)
      return cid
    },
  }
  let root: CID | undefined
  for await (const entry of importer([...entries], store, { profile: 'unixfs-v1-2025', ...options })) root = entry.cid
  if (root === undefined) throw new TypeError('the importer made nothing')
  return { root, blocks }
}

async function* toIterable(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** A CAR of these blocks, in their order. */
export async function carOf(root: CID, blocks: TestDag['blocks']): Promise<Buffer> {
  const { writer, out } = CarWriter.create([root])
  const done = Array.fromAsync(out)
  for (const [cid, bytes] of blocks) await writer.put({ cid: CID.parse(cid), bytes })
  await writer.close()
  return Buffer.concat(await done)
}

/** What a CAR holds: the roots of its header and the CIDs of its blocks, in order, each block checked. */
export async function readCar(bytes: Uint8Array): Promise<{ roots: string[]; cids: string[]; blocks: Uint8Array[] }> {
  const reader = CarBufferReader.fromBytes(bytes)
  const blocks = reader.blocks()
  for (const block of blocks) {
    const digest = await sha256.digest(block.bytes)
    if (!Buffer.from(digest.digest).equals(block.cid.multihash.digest)) throw new Error(`${block.cid} is another block`)
  }
  return {
    roots: reader.getRoots().map(String),
    cids: blocks.map(({ cid }) => cid.toString()),
    blocks: blocks.map((block) => block.bytes),
  }
}
