/**
 * A client that trusts nothing: the UnixFS exporter of Helia over a blockstore that knows one gateway, and that hashes
 * every block it gets before it lets it pass.
 */
import { exporter, type ReadableStorage, type UnixFSEntry } from 'ipfs-unixfs-exporter'
import { CID } from 'multiformats/cid'
import { sha256 as sha2 } from 'multiformats/hashes/sha2'
import { describe, expect, test } from 'vitest'
import type { Caller } from './caller.ts'
import { carOf, stageCar } from './car-files.ts'
import { asCidV0, importDirectory, importFile, PROFILES } from './network-ids.ts'
import { MIB, sampleBytes, useTarget } from './target.ts'

const target = useTarget()

/** Blocks of a gateway. `fetched` lists what was asked for, in order. */
class GatewayBlocks implements ReadableStorage {
  readonly fetched: string[] = []
  readonly #caller: Caller

  constructor(caller: Caller) {
    this.#caller = caller
  }

  async *get(cid: CID): AsyncGenerator<Uint8Array> {
    this.fetched.push(cid.toString())
    const answer = await this.#caller.get(`/ipfs/${cid}?format=raw`, { Accept: 'application/vnd.ipld.raw' })
    if (answer.status !== 200) throw new Error(`${cid} answered ${answer.status}: ${answer.body.toString()}`)
    if (cid.multihash.code !== sha2.code) throw new Error(`${cid} is not by sha2-256`)
    const { bytes } = await sha2.digest(answer.body)
    if (!Buffer.from(bytes).equals(cid.multihash.bytes)) throw new Error(`${cid} has other bytes`)
    yield answer.body
  }
}

async function contentOf(entry: UnixFSEntry, range?: { offset: number; length: number }): Promise<Buffer> {
  if (entry.type !== 'file' && entry.type !== 'raw') throw new Error(`a ${entry.type} is no file`)
  const chunks: Uint8Array[] = []
  for await (const chunk of entry.content(range)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('a client that verifies every block', () => {
  test.for([
    ['CIDv0', 'unixfs-v0-2015', 3 * MIB, 256 * 1024],
    ['CIDv1', 'unixfs-v1-2025', 3 * MIB, MIB],
    ['CIDv0 of a small file', 'unixfs-v0-2015', 1000, 256 * 1024],
    ['CIDv1 of a small file', 'unixfs-v1-2025', 1000, MIB],
  ] as const)('reads a file staged under its %s, and a range of it', async ([, profile, size, leafBytes], context) => {
    target.needsOwnServer(context, 'stages a big file')
    const user = await target.freshUser(context)
    const bytes = sampleBytes(size)
    const { root } = await importFile(bytes, PROFILES[profile])
    await user.stage(bytes, { cid: root.version === 0 ? asCidV0(root) : root.toString() })

    const blocks = new GatewayBlocks(target.anonymous())
    const entry = await exporter(root, blocks)
    expect(entry.size).toBe(BigInt(size))
    expect((await contentOf(entry)).equals(bytes)).toBe(true)

    const before = blocks.fetched.length
    const offset = Math.min(leafBytes, size) - 15
    const part = await contentOf(entry, { offset, length: 10 })
    expect(part.equals(bytes.subarray(offset, offset + 10))).toBe(true)
    expect(blocks.fetched.length - before).toBeLessThanOrEqual(1)
  })

  test('reads a directory out of an uploaded CAR', async () => {
    const files = {
      'readme.txt': sampleBytes(20),
      'deep/er/data.bin': sampleBytes(300_000),
      'deep/one': sampleBytes(1),
    }
    const dag = await importDirectory(files, PROFILES['unixfs-v1-2025'])
    await stageCar(target.anonymous(), dag.root.toString(), await carOf(dag))
    const blocks = new GatewayBlocks(target.anonymous())
    for (const [path, bytes] of Object.entries(files)) {
      const entry = await exporter(`${dag.root}/${path}`, blocks)
      expect((await contentOf(entry)).equals(bytes), path).toBe(true)
    }
    const names: string[] = []
    const directory = await exporter(dag.root, blocks)
    if (directory.type !== 'directory') throw new Error(`the root is a ${directory.type}`)
    for await (const { name } of directory.entries()) names.push(name)
    expect(names.toSorted()).toEqual(['deep', 'readme.txt'])
  })

  test('finds nothing of a file that is private, deleted or was never staged', async (context) => {
    const user = await target.freshUser(context)
    const [hidden, deleted, absent] = [sampleBytes(), sampleBytes(), sampleBytes()]
    const rootOf = async (bytes: Uint8Array) => (await importFile(bytes, PROFILES['unixfs-v0-2015'])).root
    await user.stage(hidden, { cid: asCidV0(await rootOf(hidden)), headers: { 'X-Visibility': 'private' } })
    await user.stage(deleted, { cid: asCidV0(await rootOf(deleted)) })
    await user.request('DELETE', `/api/files/${await rootOf(deleted)}`)
    for (const bytes of [hidden, deleted, absent]) {
      const root = await rootOf(bytes)
      for (const cid of [root, CID.createV1(root.code, root.multihash)]) {
        await expect(exporter(cid, new GatewayBlocks(target.anonymous()))).rejects.toThrow(/answered 4\d\d/)
      }
    }
  })
})
