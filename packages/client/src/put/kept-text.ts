import { decodeBase64, encodeBase64 } from '../base64.ts'
import type { HashWants } from '../hashing/hash-wants.ts'
import type { PartDigests } from '../hashing/part-hasher.ts'
import type { HexDigests } from '../hashing/running-hash.ts'

/** What was hashed of one file. */
export interface Kept {
  /** From the first part on, without a gap. */
  readonly parts: readonly PartDigests[]
  /** The running hashes of the whole file; undefined while not all parts are there. */
  readonly hashes: HexDigests | undefined
}

/** Which file it was, and how it was cut. */
export interface KeptOf {
  readonly fingerprint: string
  readonly sizeBytes: number
  readonly partBytes: number
  readonly wants: HashWants
}

const VERSION = 1
const DIGEST_BYTES = 32

/** Writes it as JSON, 5.4 KiB for a part. */
export function writeKept({ parts, hashes }: Kept, { fingerprint, partBytes }: KeptOf): string {
  const written = parts.map(({ sizeBytes, leaves, piece, sha256 }) => ({
    sizeBytes,
    sha256,
    leaves: Object.fromEntries(Object.entries(leaves).map(([kind, digests]) => [kind, encodeBase64(digests)])),
    piece: piece && { root: encodeBase64(piece.root), subtreeRoots: encodeBase64(piece.subtreeRoots) },
  }))
  return JSON.stringify({ version: VERSION, fingerprint, partBytes, parts: written, hashes })
}

/** Reads it back, as far as it is about this file and has what is wanted; anything else is nothing. */
export function readKept(text: string, of: KeptOf): Kept {
  const nothing: Kept = { parts: [], hashes: undefined }
  const value = parseJson(text)
  if (!isRecord(value) || value.version !== VERSION || value.partBytes !== of.partBytes) return nothing
  if (value.fingerprint !== of.fingerprint || !Array.isArray(value.parts)) return nothing

  const parts: PartDigests[] = []
  for (const written of value.parts as unknown[]) {
    const sizeBytes = Math.min(of.partBytes, of.sizeBytes - parts.length * of.partBytes)
    const part = readPart(written, sizeBytes, of.wants)
    if (part === undefined) return nothing
    parts.push(part)
  }
  const isWhole = parts.length === Math.ceil(of.sizeBytes / of.partBytes)
  const hashes = isWhole ? readHashes(value.hashes, of.wants) : undefined
  // Running hashes cannot be taken up in the middle.
  return hashes === undefined && runningOf(of.wants).length > 0 ? nothing : { parts, hashes }
}

function readPart(written: unknown, sizeBytes: number, wants: HashWants): PartDigests | undefined {
  if (!isRecord(written) || written.sizeBytes !== sizeBytes || !isRecord(written.leaves)) return undefined
  const leaves: Record<string, Uint8Array> = {}
  for (const kind of wants.leaves) {
    const digests = readBytes(written.leaves[kind])
    const chunkBytes = kind === 'raw-1m' ? 1_048_576 : 262_144
    if (digests?.length !== DIGEST_BYTES * Math.ceil(sizeBytes / chunkBytes)) return undefined
    leaves[kind] = digests
  }
  const { piece, sha256 } = written
  if (wants.partSha256 && !isHexDigest(sha256)) return undefined
  const own = isHexDigest(sha256) ? { sha256 } : {}
  if (!wants.piece) return { sizeBytes, leaves, ...own }
  const root = isRecord(piece) ? readBytes(piece.root) : undefined
  const subtreeRoots = isRecord(piece) ? readBytes(piece.subtreeRoots) : undefined
  if (root?.length !== DIGEST_BYTES || subtreeRoots === undefined) return undefined
  return { sizeBytes, leaves, ...own, piece: { root, rawSizeBytes: sizeBytes, subtreeRoots } }
}

function readHashes(written: unknown, wants: HashWants): HexDigests | undefined {
  if (!isRecord(written)) return undefined
  const hashes: Record<string, string> = {}
  for (const name of runningOf(wants)) {
    const hex = written[name]
    if (!isHexDigest(hex)) return undefined
    hashes[name] = hex
  }
  return hashes
}

function isHexDigest(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

function runningOf(wants: HashWants) {
  return (['sha256', 'blake3', 'blake2b256'] as const).filter((name) => wants[name])
}

function readBytes(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'string') return undefined
  try {
    return decodeBase64(value)
  } catch {
    // atob has one reason to throw.
    return undefined
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
