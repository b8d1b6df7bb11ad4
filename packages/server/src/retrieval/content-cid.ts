import type { Cid, ContentId } from '@lade/core/content'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'

const RAW = 0x55
const DAG_PB = 0x70
const SHA2_256 = 0x12

/** The CID of a content id as the value that DAGs are walked with. */
export function cidOf({ version, codec, hash, digest }: Cid): CID {
  return CID.create(version, Number(codec), createDigest(Number(hash), digest))
}

/** True for the ids that name bytes as they are: those of codec raw, and those that are only a digest. */
export function namesPlainBytes({ cid }: ContentId): boolean {
  return cid === undefined || Number(cid.codec) === RAW
}

/**
 * The root of the file that `id` names: a dag-pb node, or else the block that has all its bytes.
 *
 * @throws {TypeError} for an id that says nothing about its bytes.
 */
export function fileRootOf({ text, cid, sha256 }: ContentId): CID {
  if (cid !== undefined) return Number(cid.codec) === DAG_PB ? cidOf(cid) : cidOf({ ...cid, codec: BigInt(RAW) })
  if (sha256 === undefined) throw new TypeError(`${text} names no block`)
  return CID.createV1(RAW, createDigest(SHA2_256, Buffer.from(sha256, 'hex')))
}
