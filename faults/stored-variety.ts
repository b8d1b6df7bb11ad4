import { createHash, randomBytes } from 'node:crypto'
import { CarWriter } from '@ipld/car'
import * as dagCbor from '@ipld/dag-cbor'
import { importBytes } from 'ipfs-unixfs-importer'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { type Caller, send, tokenCaller } from './caller.ts'
import { BLOCK_HASHES, FR32_TREE, pieceMultihash, RAW, unixfsRoots } from './id-oracle.ts'

/** Something that a service gives back, and the bytes that it must be. */
export interface StoredName {
  readonly path: string
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

/** Stages files of every kind, and answers all the names under which their bytes can be had. */
export async function storeVariety(origin: URL): Promise<StoredName[]> {
  const caller = await tokenCaller(origin)
  const names: StoredName[] = []
  const add = (path: string, bytes: Uint8Array, headers = {}): void => void names.push({ path, bytes, headers })
  const put = (cid: string, bytes: Uint8Array, headers: Record<string, string> = {}): Promise<void> =>
    stage(origin, caller, { cid, bytes, headers })

  for (const sizeBytes of [20, 33, 47, 90, 120, 250, 400, 900, 1500, 3000, 9000, 40_000, 70_000, 300_000, 1_200_000]) {
    const bytes = randomBytes(sizeBytes)
    const raw = rawCid(bytes)
    await put(sizeBytes % 2 === 0 ? hex(bytes) : raw, bytes)
    add(`/p/${hex(bytes)}`, bytes)
    add(`/p/${raw}`, bytes)
    add(`/piece/${pieceCid(bytes)}`, bytes)
    if (sizeBytes < 1_048_576) add(`/ipfs/${raw}?format=raw`, bytes)
  }
  for (const sizeBytes of [60, 350, 5000, 300_000, 2_500_000]) {
    for (const root of new Set((await unixfsRoots(randomBytesOnce(sizeBytes))).map(String))) {
      await put(root, randomBytesOnce(sizeBytes))
      add(`/p/${root}`, randomBytesOnce(sizeBytes))
    }
  }
  for (const sizeBytes of [70, 800, 90_000]) {
    const bytes = randomBytes(sizeBytes)
    const cid = CID.createV1(RAW, createDigest(0x1e, BLOCK_HASHES[0x1e]?.(bytes) ?? bytes)).toString()
    await put(cid, bytes)
    add(`/p/${cid}`, bytes)
    const secret = randomBytes(sizeBytes + 1)
    await put(hex(secret), secret, { 'X-Visibility': 'private' })
    add(`/p/${hex(secret)}`, secret, caller.headers)
    const named = randomBytes(sizeBytes + 2)
    await put(`myfile${sizeBytes}`, named)
    add(`/p/myfile${sizeBytes}`, named)
  }
  for (const sizeBytes of [500, 700_000]) {
    const inside = randomBytes(sizeBytes)
    const { root, car } = await carOfFile(inside)
    await put(root, car, { 'Content-Type': 'application/vnd.ipld.car; version=1' })
    add(`/p/${root}`, inside)
    add(`/p/${hex(car)}`, car)
  }
  const value = await carOfValue({ hello: randomBytes(40) })
  await put(value.root, value.car, { 'Content-Type': 'application/vnd.ipld.car; version=1' })
  add(`/p/${value.root}`, value.car)
  return names
}

interface Staged {
  readonly cid: string
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

async function stage(origin: URL, caller: Caller, { cid, bytes, headers }: Staged): Promise<void> {
  const all = { ...caller.headers, 'Content-Type': 'application/octet-stream', ...headers }
  const answer = await send(origin, 'POST', `/api/upload?cid=${cid}`, { headers: all, body: bytes })
  if (answer.status !== 200) throw new Error(`staging ${cid} answered ${answer.status}: ${answer.body}`)
}

const madeBytes = new Map<number, Buffer>()

function randomBytesOnce(sizeBytes: number): Buffer {
  const bytes = madeBytes.get(sizeBytes) ?? randomBytes(sizeBytes)
  madeBytes.set(sizeBytes, bytes)
  return bytes
}

function hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function rawCid(bytes: Uint8Array): string {
  return CID.createV1(RAW, createDigest(0x12, createHash('sha256').update(bytes).digest())).toString()
}

function pieceCid(bytes: Uint8Array): string {
  // The code and the length of the multihash are in front of its digest.
  const [prefixBytes, lengthBytes] = [2, 1]
  const digest = pieceMultihash(bytes).subarray(prefixBytes + lengthBytes)
  return CID.createV1(RAW, createDigest(FR32_TREE, digest)).toString()
}

async function carOfFile(bytes: Uint8Array): Promise<{ root: string; car: Buffer }> {
  const blocks = new Map<CID, Uint8Array>()
  const store = {
    async put(cid: CID, block: Uint8Array) {
      blocks.set(cid, block)
      return cid
    },
  }
  const { cid } = await importBytes(bytes, store as never, { profile: 'unixfs-v0-2015' })
  return { root: cid.toString(), car: await carOf(cid, blocks) }
}

async function carOfValue(value: unknown): Promise<{ root: string; car: Buffer }> {
  const block = dagCbor.encode(value)
  const root = CID.createV1(dagCbor.code, createDigest(0x12, createHash('sha256').update(block).digest()))
  return { root: root.toString(), car: await carOf(root, new Map([[root, block]])) }
}

async function carOf(root: CID, blocks: ReadonlyMap<CID, Uint8Array>): Promise<Buffer> {
  const { writer, out } = CarWriter.create([root])
  const done = Array.fromAsync(out)
  for (const [cid, bytes] of blocks) await writer.put({ cid, bytes })
  await writer.close()
  return Buffer.concat(await done)
}
