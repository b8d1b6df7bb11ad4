/**
 * The content ids that IPFS and Filecoin tools print for some bytes, computed by libraries of those networks: the UnixFS
 * importer of Helia, the piece hasher of web3.storage, and the hashes of noble.
 */
import { blake2b } from '@noble/hashes/blake2.js'
import { blake3 } from '@noble/hashes/blake3.js'
import { create as createPieceHasher } from 'fr32-sha2-256-trunc254-padded-binary-tree-multihash'
import { type ImporterOptions, importBytes, importer } from 'ipfs-unixfs-importer'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'
import type { CID } from 'multiformats/cid'
import { CODEC, cidV1, HASH, hexOf, legacyOf, multibase, multihash, sha256 } from './content-ids.ts'

const KIB = 1024

/** Codes of the multicodec table that other modules of the suite do not need. */
export const FIL_COMMITMENT_UNSEALED = 0xf101
export const BLOCK_CODEC = { ...CODEC, gitRaw: 0x78 } as const
const SHA2_256_TRUNC254_PADDED = 0x1012

/** The hashes by which one block can be named, with their multihash codes. */
export const BLOCK_HASH = {
  sha256: { code: HASH.sha256, digest: (bytes: Uint8Array): Uint8Array => sha256(bytes) },
  blake3: { code: 0x1e, digest: (bytes: Uint8Array): Uint8Array => blake3(bytes) },
  blake2b256: { code: 0xb220, digest: (bytes: Uint8Array): Uint8Array => blake2b(bytes, { dkLen: 32 }) },
} as const

/** The binary CIDv1 of `bytes` as one block. */
export function blockCid(codec: number, hash: keyof typeof BLOCK_HASH, bytes: Uint8Array): Buffer {
  const { code, digest } = BLOCK_HASH[hash]
  return cidV1(codec, multihash(code, digest(bytes)))
}

interface PieceCids {
  readonly v1: Buffer
  readonly v2: Buffer
}

/** Computing one takes longer than any request about it. */
const computedPieces = new WeakMap<Uint8Array, PieceCids>()

/** The binary piece CIDs of `bytes`: version 1, which does not say how long they are, and version 2, which does. */
export function pieceCids(bytes: Uint8Array): PieceCids {
  const cids = computedPieces.get(bytes) ?? computePieceCids(bytes)
  computedPieces.set(bytes, cids)
  return cids
}

function computePieceCids(bytes: Uint8Array): PieceCids {
  const hasher = createPieceHasher()
  try {
    hasher.write(bytes)
    const hash = new Uint8Array(hasher.multihashByteLength())
    hasher.digestInto(hash, 0, true)
    const root = hash.subarray(-32)
    return {
      v1: cidV1(FIL_COMMITMENT_UNSEALED, multihash(SHA2_256_TRUNC254_PADDED, root)),
      v2: cidV1(CODEC.raw, hash),
    }
  } finally {
    hasher.free()
  }
}

/** The piece CID of version 2, in base32. */
export const pieceCidOf = (bytes: Uint8Array): string => multibase(pieceCids(bytes).v2).base32

/** Both piece CIDs, in base32. */
export const multibaseOfPiece = (bytes: Uint8Array): { v1: string; v2: string } => {
  const { v1, v2 } = pieceCids(bytes)
  return { v1: multibase(v1).base32, v2: multibase(v2).base32 }
}

/** The import profiles that a UnixFS root is looked for under, by what they do. */
export const PROFILES = {
  'unixfs-v0-2015': { profile: 'unixfs-v0-2015' },
  'unixfs-v1-2025': { profile: 'unixfs-v1-2025' },
  '256 KiB, raw leaves, 174 links': fixed(256 * KIB, 174),
  '1 MiB, raw leaves, 174 links': fixed(1024 * KIB, 174),
} as const satisfies Record<string, ImporterOptions>
export type ProfileName = keyof typeof PROFILES

function fixed(chunkSize: number, maxChildrenPerNode: number): ImporterOptions {
  const layout = balanced({ maxChildrenPerNode })
  return { cidVersion: 1, rawLeaves: true, chunker: fixedSize({ chunkSize }), layout }
}

export interface Block {
  readonly cid: CID
  readonly bytes: Uint8Array
}

/** A DAG by its root, with every block of it once, children before parents. */
export interface Dag {
  readonly root: CID
  readonly blocks: readonly Block[]
}

/** A file as a UnixFS DAG. */
export async function importFile(bytes: Uint8Array, options: ImporterOptions): Promise<Dag> {
  const store = new BlockList()
  const { cid } = await importBytes(bytes, store, options)
  return { root: cid, blocks: store.blocks }
}

/** A directory of files, by their paths in it, as a UnixFS DAG. */
export async function importDirectory(
  files: Readonly<Record<string, Uint8Array>>,
  options: ImporterOptions,
): Promise<Dag> {
  const store = new BlockList()
  const candidates = Object.entries(files).map(([path, content]) => ({ path, content }))
  let root: CID | undefined
  for await (const { cid } of importer(candidates, store, { ...options, wrapWithDirectory: true })) root = cid
  if (root === undefined) throw new Error('the importer made no directory')
  return { root, blocks: store.blocks }
}

class BlockList {
  readonly #blocks = new Map<string, Block>()

  get blocks(): readonly Block[] {
    return [...this.#blocks.values()]
  }

  async put(cid: CID, content: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<CID> {
    const parts: Uint8Array[] = []
    if (content instanceof Uint8Array) parts.push(content)
    else for await (const part of content) parts.push(part)
    this.#blocks.set(cid.toString(), { cid, bytes: Buffer.concat(parts) })
    return cid
  }
}

/** The multihash of a CID as CIDv0, which is bare base58. */
export const asCidV0 = (cid: CID): string => multibase(cid.multihash.bytes).base58.slice(1)

/**
 * Every text of one binary CIDv1 that the service reads: each multibase, and both cases where case carries no meaning.
 * A text of less than 8 or more than 80 characters is no content id.
 */
export function spellingsOf(cid: Uint8Array): string[] {
  const { base32, base36, base16, base58 } = multibase(cid)
  const folding = [base32, base36, base16].flatMap((text) => [text, text.toUpperCase(), mixedCase(text)])
  return [...folding, base58].filter((text) => text.length >= 8 && text.length <= 80)
}

/** Every other letter in upper case. */
const mixedCase = (text: string): string =>
  [...text].map((char, at) => (at % 2 === 0 ? char.toUpperCase() : char)).join('')

/** Every name that any bytes have, however they were uploaded: by sha2-256, and as a piece. */
export function namesOf(bytes: Uint8Array): string[] {
  const { v1, v2 } = pieceCids(bytes)
  const [hex, legacy] = [hexOf(bytes), legacyOf(bytes)]
  const raw = blockCid(CODEC.raw, 'sha256', bytes)
  const texts = [hex, hex.toUpperCase(), legacy, legacy.toUpperCase()]
  return [...texts, ...[raw, v1, v2].flatMap(spellingsOf)]
}
