import { sha256 as sha2_256 } from '@noble/hashes/sha2.js'
import { importer } from 'ipfs-unixfs-importer'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'
import { CID, digest } from 'multiformats'
import { DagHasher } from './dag-hasher.ts'
import { DagLayout } from './dag-layout.ts'
import { encodeBlock } from './encode-block.ts'
import type { ImportProfile } from './import-profile.ts'
import type { ImportedDag } from './imported-dag.ts'
import type { Sha256 } from './sha256.ts'

const RAW = 0x55
const DAG_PB = 0x70
const SHA2_256 = 0x12

export const sha256: Sha256 = {
  create: () => {
    const state = sha2_256.create()
    return { update: (bytes) => void state.update(bytes), digest: () => state.digest() }
  },
  of: (bytes) => sha2_256(bytes),
}

/** A file in an importer's blockstore: its root, and every block by the text of its CID. */
export interface StoredDag {
  readonly root: string
  readonly blocks: ReadonlyMap<string, Uint8Array>
}

/** What `ipfs-unixfs-importer` makes of a file with the parameters of a profile, real or made up. */
export async function importByReference(profile: ImportProfile, bytes: Uint8Array): Promise<StoredDag> {
  return importWith(bytes, {
    cidVersion: profile.leaves === 'raw' ? 1 : 0,
    rawLeaves: profile.leaves === 'raw',
    chunker: fixedSize({ chunkSize: profile.chunkBytes }),
    layout: balanced({ maxChildrenPerNode: profile.linksPerNode }),
  })
}

export async function importWith(
  bytes: Uint8Array,
  options: NonNullable<Parameters<typeof importer>[2]>,
): Promise<StoredDag> {
  const blocks = new Map<string, Uint8Array>()
  const blockstore = {
    put: async (cid: CID, block: unknown) => {
      if (!(block instanceof Uint8Array)) throw new TypeError('The importer stored something else than bytes')
      blocks.set(cid.toString(), block)
      return cid
    },
  }
  const roots: string[] = []
  for await (const { cid } of importer([{ content: bytes }], blockstore, options)) roots.push(cid.toString())
  const [root = ''] = roots
  return { root, blocks }
}

/** `bytes` handed on in pieces of these lengths, the rest in one. */
export function cut(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const parts: Uint8Array[] = []
  let rest = bytes
  for (const length of lengths) {
    parts.push(rest.subarray(0, length))
    rest = rest.subarray(length)
  }
  return [...parts, rest]
}

export function hashDags(profiles: readonly ImportProfile[], sizeBytes: number, parts: Uint8Array[]): ImportedDag[] {
  const hasher = new DagHasher({ profiles, sizeBytes, sha256 })
  for (const part of parts) hasher.update(part)
  return hasher.finish()
}

/** The text of a node's CID, as an importer with this profile names it. */
export function cidOf(profile: ImportProfile, codec: 'raw' | 'dag-pb', sha256Digest: Uint8Array): string {
  const multihash = digest.create(SHA2_256, sha256Digest)
  return CID.create(profile.leaves === 'raw' ? 1 : 0, codec === 'raw' ? RAW : DAG_PB, multihash).toString()
}

/** The digest of one node. */
export function digestOf(dag: ImportedDag, number: number): Uint8Array {
  return dag.digests.subarray(32 * number, 32 * (number + 1))
}

/** Every block of a DAG in the order of node numbers, made again from its digests and the file. */
export function encodeBlocks(layout: DagLayout, dag: ImportedDag, bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: layout.nodeCount }, (_, number) => {
    const { kind, offsetBytes, lengthBytes, firstChild, childCount } = layout.node(number)
    return kind === 'interior'
      ? encodeBlock(layout, number, {
          childDigests: dag.digests.subarray(32 * firstChild, 32 * (firstChild + childCount)),
        })
      : encodeBlock(layout, number, { chunk: bytes.subarray(offsetBytes, offsetBytes + lengthBytes) })
  })
}

/** The same as {@link importByReference}, by what is tested here. */
export function importHere(profile: ImportProfile, bytes: Uint8Array, parts: Uint8Array[] = [bytes]): StoredDag {
  const [dag] = hashDags([profile], bytes.length, parts)
  if (dag === undefined) throw new TypeError('One profile makes one DAG')
  const layout = new DagLayout(profile, bytes.length)
  const blocks = encodeBlocks(layout, dag, bytes).map((block, number) => {
    const codec = layout.node(number).kind === 'raw-leaf' ? 'raw' : 'dag-pb'
    return [cidOf(profile, codec, digestOf(dag, number)), block] as const
  })
  return { root: cidOf(profile, dag.rootCodec, digestOf(dag, layout.nodeCount - 1)), blocks: new Map(blocks) }
}
