import * as dagPb from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import type { Caller } from '../caller.ts'
import { carOf, stageCar } from '../car-files.ts'
import { CODEC } from '../content-ids.ts'
import { type Block, blockCid, type Dag, importDirectory, PROFILES } from '../network-ids.ts'
import { sampleBytes } from '../target.ts'

/** Makes the folder of each run another one. */
const mark = (): Buffer => Buffer.from(sampleBytes(8).toString('hex'))

/** A folder of these files, with one more that no other run has; staged as a CAR. Answers its root. */
export async function stageFolder(
  caller: Caller,
  files: Readonly<Record<string, Uint8Array | string>>,
  options: Parameters<typeof importDirectory>[1] = PROFILES['unixfs-v1-2025'],
): Promise<string> {
  const bytes = Object.entries(files).map(([name, content]) => [name, Buffer.from(content)] as const)
  const dag = await importDirectory({ ...Object.fromEntries(bytes), '.mark': mark() }, options)
  return stageDag(caller, dag)
}

export async function stageDag(caller: Caller, dag: Dag): Promise<string> {
  const root = dag.root.toString()
  await stageCar(caller, root, await carOf(dag))
  return root
}

const pbBlock = (type: 'directory' | 'symlink', data: Uint8Array | undefined, Links: dagPb.PBLink[]): Block => {
  const Data = new UnixFS(data === undefined ? { type } : { type, data }).marshal()
  const bytes = dagPb.encode({ Data, Links })
  return { cid: CID.decode(blockCid(CODEC.dagPb, 'sha256', bytes)), bytes }
}

/** Directories in each other by these names, whatever they are, and a raw block under the last. */
export function nestedNames(...names: readonly string[]): Dag {
  const bytes = mark()
  const blocks: Block[] = [{ cid: CID.decode(blockCid(CODEC.raw, 'sha256', bytes)), bytes }]
  for (const Name of names.toReversed()) {
    const below = blocks.at(-1)
    if (below !== undefined) blocks.push(pbBlock('directory', undefined, [{ Name, Hash: below.cid, Tsize: 16 }]))
  }
  const root = blocks.at(-1)?.cid
  if (root === undefined) throw new TypeError('no names')
  return { root, blocks }
}

/** A folder with a symbolic link `bar` to `target`. */
export function symlinkFolder(target: string): Dag {
  const link = pbBlock('symlink', Buffer.from(target), [])
  const folder = pbBlock('directory', undefined, [{ Name: 'bar', Hash: link.cid, Tsize: link.bytes.length }])
  return { root: folder.cid, blocks: [link, folder] }
}

/** A folder with one file for each of these hashes, which is its name. */
export function folderOfHashes(hashes: readonly BlockHash[]): Dag {
  const files = hashes.map(({ name, code, digest }) => {
    const bytes = Buffer.concat([mark(), Buffer.from(name)])
    return { name, bytes, cid: CID.createV1(CODEC.raw, createDigest(code, digest(bytes))) }
  })
  const links = files.map(({ name, bytes, cid }) => ({ Name: name, Hash: cid, Tsize: bytes.length }))
  const folder = pbBlock('directory', undefined, links)
  return { root: folder.cid, blocks: [...files, folder] }
}

/** A hash, by its name and code in the multicodec table. */
export interface BlockHash {
  readonly name: string
  readonly code: number
  readonly digest: (bytes: Uint8Array) => Uint8Array
}

/** The CID of some bytes as one raw block. */
export const rawCid = (bytes: Uint8Array | string): string =>
  CID.decode(blockCid(CODEC.raw, 'sha256', Buffer.from(bytes))).toString()
