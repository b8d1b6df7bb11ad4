import { createHash } from 'node:crypto'
import { blake2b } from '@noble/hashes/blake2.js'
import { blake3 } from '@noble/hashes/blake3.js'
import { create as createPieceHasher } from 'fr32-sha2-256-trunc254-padded-binary-tree-multihash'
import { type ImporterOptions, importBytes } from 'ipfs-unixfs-importer'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'
import { base32 } from 'multiformats/bases/base32'
import { bases } from 'multiformats/basics'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'

/**
 * What an id says about some bytes, by the networks' own libraries and none of the service's code: `right` or `wrong` for
 * an id of a form that the service checks, `foreign` for a real CID of any other hash or codec, `none` for no CID at all.
 */
export type Judgement = 'right' | 'wrong' | 'foreign' | 'none'

export const RAW = 0x55
export const DAG_PB = 0x70
const LIBP2P_KEY = 0x72
export const FIL_COMMITMENT_UNSEALED = 0xf101
const FIL_COMMITMENT_SEALED = 0xf102
export const IDENTITY = 0x00
export const TRUNC254_PADDED = 0x1012
export const FR32_TREE = 0x1011

/** The hashes by which blocks are named, by their multihash codes. */
export const BLOCK_HASHES: Readonly<Record<number, (bytes: Uint8Array) => Uint8Array>> = {
  18: (bytes) => createHash('sha256').update(bytes).digest(),
  30: (bytes) => blake3(bytes),
  45600: (bytes) => blake2b(bytes, { dkLen: 32 }),
}

const KIB = 1024
/** The import profiles under which a UnixFS root is looked for. */
const PROFILES: readonly ImporterOptions[] = [
  { profile: 'unixfs-v0-2015' },
  { profile: 'unixfs-v1-2025' },
  ...[256, 1024].map((chunkKib) => ({
    cidVersion: 1 as const,
    rawLeaves: true,
    chunker: fixedSize({ chunkSize: chunkKib * KIB }),
    layout: balanced({ maxChildrenPerNode: 174 }),
  })),
]

/** The multihash in the piece CID (version 2) of `bytes`; its last 32 bytes are the root. */
export function pieceMultihash(bytes: Uint8Array): Uint8Array {
  const hasher = createPieceHasher()
  hasher.write(bytes)
  const hash = new Uint8Array(hasher.multihashByteLength())
  hasher.digestInto(hash, 0, true)
  hasher.free()
  return hash
}

/** The roots of `bytes` as a UnixFS file, one for each profile. */
export async function unixfsRoots(bytes: Uint8Array): Promise<readonly CID[]> {
  const nowhere = { put: async <Key>(cid: Key): Promise<Key> => cid }
  return Promise.all(PROFILES.map(async (profile) => (await importBytes(bytes, nowhere, profile)).cid))
}

/** The CID in a text, read as IPFS tools read it; those that fold case are folded first. */
export function cidIn(text: string): CID | undefined {
  const bytes = bytesIn(text)
  try {
    return bytes === undefined ? undefined : CID.decode(bytes)
  } catch {
    // Every throw of this decoder means the same: not a CID.
    return undefined
  }
}

function bytesIn(text: string): Uint8Array | undefined {
  const folded = /^[bkf]/i.test(text) ? text.toLowerCase() : text
  const base = Object.values(bases).find(({ prefix }) => prefix === folded.slice(0, 1))
  try {
    // CIDv0 is bare base58btc, whose first letter is no multibase prefix.
    return text.startsWith('Q') ? bases.base58btc.baseDecode(text) : base?.decode(folded)
  } catch {
    // Every throw of these decoders means the same: other digits than the multibase has.
    return undefined
  }
}

/**
 * True for a text that the service has to read as what `judge` says: 8 to 80 letters and digits, and if it is a CID, one
 * in a multibase that the service takes, of the fewest bytes, and bare only as version 0.
 */
export function isReadable(text: string): boolean {
  if (!/^[a-z0-9]{8,80}$/i.test(text)) return false
  const cid = cidIn(text)
  if (cid === undefined) return true
  const { code, digest } = cid.multihash
  const shortest = CID.create(cid.version, cid.code, createDigest(code, digest)).bytes
  const isSpelled = cid.version === 0 ? text.startsWith('Q') : /^[bBkKfFz]/.test(text)
  return isSpelled && Buffer.compare(bytesIn(text) ?? new Uint8Array(), shortest) === 0
}

/** Judges `text` as an id of `bytes`. */
export async function judge(text: string, bytes: Uint8Array): Promise<Judgement> {
  const sha256 = createHash('sha256').update(bytes).digest()
  const verdict = (isRight: boolean): Judgement => (isRight ? 'right' : 'wrong')
  if (/^[0-9a-f]{64}$/i.test(text)) return verdict(text.toLowerCase() === sha256.toString('hex'))
  if (/^bafy[a-z2-7]{52}$/i.test(text)) return verdict(text.toLowerCase() === `bafy${base32.baseEncode(sha256)}`)
  const cid = cidIn(text)
  if (cid === undefined) return 'none'
  const { code, digest } = cid.multihash
  const isDigest = (other: Uint8Array): boolean => Buffer.compare(digest, other) === 0
  if (code === IDENTITY) return verdict(isDigest(bytes))
  if (code === FR32_TREE && cid.code === RAW) {
    return verdict(Buffer.compare(cid.multihash.bytes, pieceMultihash(bytes)) === 0)
  }
  if (code === TRUNC254_PADDED && cid.code === FIL_COMMITMENT_UNSEALED) {
    return verdict(isDigest(pieceMultihash(bytes).subarray(-32)))
  }
  const hash = BLOCK_HASHES[code]
  if (hash === undefined || digest.length !== 32) return 'foreign'
  if ([LIBP2P_KEY, FIL_COMMITMENT_UNSEALED, FIL_COMMITMENT_SEALED].includes(cid.code)) return 'foreign'
  if (isDigest(hash(bytes))) return 'right'
  if (cid.code !== DAG_PB) return 'wrong'
  return verdict((await unixfsRoots(bytes)).some((root) => root.code === DAG_PB && isDigest(root.multihash.digest)))
}
