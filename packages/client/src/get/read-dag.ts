import type { Cid, ContentId } from '@lade/core/content'
import { CarIndexer, DagReadError, readUnixfsFile } from '@lade/core/dag'
import type { Sha256 } from '@lade/core/dag/import'
import { LadeError } from '@lade/core/errors'
import { blake2b } from '@noble/hashes/blake2.js'
import { blake3 } from '@noble/hashes/blake3.js'
import { CID } from 'multiformats/cid'
import * as Multihash from 'multiformats/hashes/digest'
import { LeafHasher } from '../hashing/leaves.ts'
import type { HashTools } from '../hashing/part-hasher.ts'
import type { Http } from '../http/http.ts'

// Loaded when it is needed, which is seldom: decoding blocks takes as much code as all the rest.

/** Begins to check the bytes of a CAR against the root that they were asked for by. */
export function beginCar({ cid }: ContentId, sizeBytes: number, sha256: Sha256): CarIndexer {
  const { version, code, multihash } = asCid(required(cid))
  const root = { version, codec: code, multihash: multihash.bytes }
  return new CarIndexer({ root, sizeBytes, hashes: (hash) => hashOf(hash, sha256) })
}

/** A file whose DAG is read and compared with bytes that are already here. */
export interface FileOfDag {
  readonly http: Http
  readonly id: ContentId
  readonly sizeBytes: number
  /** The sha2-256 of each MiB of the bytes in question. */
  readonly leaves: Uint8Array
  readonly tools: HashTools
  readonly signal: AbortSignal | undefined
}

/**
 * True when the bytes are those of the UnixFS file under a root, however that was cut: then every block of the file is
 * fetched and checked, since nothing else tells.
 *
 * @throws {LadeError} when blocks cannot be fetched.
 */
export async function isFileOfDag({ http, id, sizeBytes, leaves, tools, signal }: FileOfDag): Promise<boolean> {
  const getBlock = (cid: CID) => fetchBlock({ http, tools, signal }, cid)
  const hasher = new LeafHasher('raw-1m', sizeBytes, tools.digest)
  let receivedBytes = 0
  try {
    for await (const chunk of readUnixfsFile({ root: asCid(required(id.cid)), getBlock })) {
      receivedBytes += chunk.length
      if (receivedBytes > sizeBytes) return false
      await hasher.update(new Uint8Array(chunk))
    }
  } catch (error) {
    if (error instanceof DagReadError || LadeError.has(error, 'not_found')) return false
    throw error
  }
  return receivedBytes === sizeBytes && isEqual(hasher.finish(), leaves)
}

/** A block as the gateway gives it; undefined when it is not what its CID says. @throws {LadeError} when it cannot be fetched. */
export async function fetchBlock(
  { http, tools, signal }: Pick<FileOfDag, 'http' | 'tools' | 'signal'>,
  cid: CID,
): Promise<Uint8Array | undefined> {
  const headers = { accept: 'application/vnd.ipld.raw' }
  const bytes = await http.bytes({ path: `/ipfs/${cid}`, query: { format: 'raw' }, headers, isOpen: true, signal })
  const hash = hashOf(cid.multihash.code, tools.sha256)
  return hash !== undefined && isEqual(hash(bytes), cid.multihash.digest) ? bytes : undefined
}

function hashOf(code: number, sha256: Sha256): BlockHash | undefined {
  switch (code) {
    case 0x12:
      return (bytes) => sha256.of(bytes)
    case 0x1e:
      return (bytes) => blake3(bytes)
    case 0xb220:
      return (bytes) => blake2b(bytes, { dkLen: 32 })
    default:
      return undefined
  }
}

type BlockHash = (bytes: Uint8Array) => Uint8Array

/** A CID of a content id. */
export function asCid({ version, codec, hash, digest }: Cid): CID {
  return CID.create(version, Number(codec), Multihash.create(Number(hash), digest))
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at])
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('only a CID has a DAG')
  return value
}
