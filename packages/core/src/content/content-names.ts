import { base16 } from 'multiformats/bases/base16'
import { base58btc } from 'multiformats/bases/base58'
import { IMPORT_PROFILES } from '../dag/import-profile.ts'
import type { ImportedDag } from '../dag/imported-dag.ts'
import { pieceCidV1, pieceCidV1Bytes, pieceCidV2, pieceCidV2Bytes } from '../piece/piece-cid.ts'
import { writeCid } from './cid-bytes.ts'
import type { KnownDigests } from './content-digests.ts'
import type { Cid, ContentId } from './content-id.ts'
import { legacyIdOf } from './legacy-id.ts'
import { encodeMultibaseLike } from './multibase.ts'
import { BLAKE2B_256, BLAKE3, DAG_PB, RAW, SHA2_256 } from './multicodec.ts'

/** Every name that a sha2-256 digest gives its bytes. */
export interface ContentAliases {
  /** 64 lower-case hex digits. */
  readonly hex: string
  /** `bafy` and 52 base32 digits. */
  readonly legacy: string
  /** CIDv1, codec raw, in base32: `bafkrei…`. */
  readonly cidV1: string
}

/**
 * Names a sha2-256 digest in each form that `parseContentId` maps back to the same key.
 *
 * @param sha256Hex - 64 lower-case hex digits.
 * @throws {TypeError} when `sha256Hex` is not that.
 *
 * @example
 * aliasesOf('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855').cidV1
 * // 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'
 */
export function aliasesOf(sha256Hex: string): ContentAliases {
  if (!/^[0-9a-f]{64}$/.test(sha256Hex)) throw new TypeError('A sha2-256 digest is 64 lower-case hex digits.')
  return { hex: sha256Hex, legacy: legacyIdOf(sha256Hex), cidV1: cidText(RAW, SHA2_256, sha256Hex) }
}

/** The UnixFS file of an import, by its root: in base58 as version 0 where the profile has that, else CIDv1 in base32. */
export function dagCid({ profile, root, rootCodec }: ImportedDag): string {
  if (profile !== 'unixfs-v0-2015') return cidText(rootCodec === 'raw' ? RAW : DAG_PB, SHA2_256, root)
  return cidV0Text(root)
}

/**
 * The piece CID of version 2, in base32.
 *
 * @param piece.pieceRoot - 64 lower-case hex digits.
 */
export function pieceCidOf({
  pieceRoot,
  sizeBytes,
}: {
  readonly pieceRoot: string
  readonly sizeBytes: number
}): string {
  return pieceCidV2({ root: base16.baseDecode(pieceRoot), rawSizeBytes: sizeBytes })
}

/**
 * The piece CID of version 1, in base32.
 *
 * @param piece.pieceRoot - 64 lower-case hex digits.
 */
export function pieceCidV1Of({ pieceRoot }: { readonly pieceRoot: string }): string {
  return pieceCidV1(base16.baseDecode(pieceRoot))
}

/** CIDv1 of codec raw with blake3, in base32. */
export function blake3Cid(hex: string): string {
  return cidText(RAW, BLAKE3, hex)
}

/** CIDv1 of codec raw with blake2b-256, in base32. */
export function blake2b256Cid(hex: string): string {
  return cidText(RAW, BLAKE2B_256, hex)
}

/**
 * The id that the bytes behind `digests` have in the form of `id`: what a `cid_mismatch` reports as `actual`.
 *
 * A CID keeps its version, codec, hash and multibase; bases that fold case are written in lower case. A dag-pb CID is
 * answered with the root under the IPIP-0499 profile of its version, which for version 1 and a file of one chunk is a CID
 * of codec raw; where the digests lack that profile, with the root under the first that they have. In place of an identity
 * CID stands the CIDv1 raw sha2-256 in base32, in place of an opaque id the hex digest.
 *
 * @throws {TypeError} when `digests` lacks what `digestsWanted` asked for.
 */
export function nameLike(id: ContentId, digests: KnownDigests): string {
  const { sha256 } = digests
  switch (id.form) {
    case 'sha2-256-hex':
    case 'opaque':
      return required(sha256)
    case 'legacy':
      return legacyIdOf(required(sha256))
    case 'identity':
      return aliasesOf(required(sha256)).cidV1
    case 'cid-raw':
    case 'cid-block': {
      const cid = required(id.cid)
      return encodeMultibaseLike(id.text, writeCid({ ...cid, digest: base16.baseDecode(digestOf(cid, digests)) }))
    }
    case 'cid-dag-pb':
      return dagNameLike(id, digests)
    case 'piece-v1':
      return encodeMultibaseLike(id.text, pieceCidV1Bytes(base16.baseDecode(digests.pieceRoot)))
    case 'piece-v2': {
      const piece = { root: base16.baseDecode(digests.pieceRoot), rawSizeBytes: digests.sizeBytes }
      return encodeMultibaseLike(id.text, pieceCidV2Bytes(piece))
    }
  }
}

function dagNameLike(id: ContentId, { sha256, sizeBytes, dags }: KnownDigests): string {
  const { version } = required(id.cid)
  const usual = version === 0 ? 'unixfs-v0-2015' : 'unixfs-v1-2025'
  const isOneChunk = sizeBytes <= IMPORT_PROFILES[usual].chunkBytes
  const dag = dags.find(({ profile }) => profile === usual)
  // A file of a single chunk has no other root there than the raw block of all its bytes.
  const isRaw = dag === undefined && (isOneChunk || dags.length === 0)
  const root = isRaw ? required(sha256) : required(dag ?? dags[0]).root
  if (version === 0 && !isRaw) return cidV0Text(root)
  const cid = { version: 1 as const, codec: isRaw ? RAW : DAG_PB, hash: SHA2_256 }
  return encodeMultibaseLike(version === 0 ? 'b' : id.text, writeCid({ ...cid, digest: base16.baseDecode(root) }))
}

function digestOf({ hash }: Cid, { sha256, blake3, blake2b256 }: KnownDigests): string {
  if (hash === BLAKE3) return required(blake3)
  return required(hash === BLAKE2B_256 ? blake2b256 : sha256)
}

function cidText(codec: bigint, hash: bigint, hex: string): string {
  return encodeMultibaseLike('b', writeCid({ version: 1, codec, hash, digest: base16.baseDecode(hex) }))
}

function cidV0Text(hex: string): string {
  return base58btc.baseEncode(writeCid({ version: 0, codec: DAG_PB, hash: SHA2_256, digest: base16.baseDecode(hex) }))
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('the digests lack what this id is checked by')
  return value
}
