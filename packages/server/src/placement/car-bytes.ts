import {
  CarLayout,
  carHeader,
  carSection,
  DagLayout,
  encodeBlock,
  IMPORT_PROFILES,
  type ImportProfileName,
} from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { sha256 } from '@lade/node/hashing/sha256'
import { CID } from 'multiformats/cid'
import { create } from 'multiformats/hashes/digest'
import type { ByteRange } from '../blobs/blob-store.ts'
import type { CarSource, ObjectHandle, RecordStore } from '../records/record-store.ts'

const SHA2_256 = 0x12
const RAW = 0x55
const DAG_PB = 0x70
const DIGEST_BYTES = 32

export interface CarBytesDeps {
  readonly records: Pick<RecordStore, 'blocks'>
  /** Bytes of an object, in order. */
  readonly readObject: (object: ObjectHandle, range: ByteRange) => AsyncIterable<Uint8Array>
}

/** How long the CAR of an object is. @throws {TypeError} for a profile that is not known. */
export function carLayoutOf({ profile, objectBytes }: Pick<CarSource, 'profile' | 'objectBytes'>): CarLayout {
  const known = IMPORT_PROFILES[profile as ImportProfileName]
  if (known === undefined) throw new TypeError(`there is no import profile ${profile}`)
  return new CarLayout(new DagLayout(known, objectBytes))
}

/**
 * Bytes of the CAR of an object's DAG, made of the object and the digests that were kept. Memory is one block.
 *
 * Every block is hashed before any of it is given, so that no damaged byte gets into a CAR.
 *
 * @throws {LadeError} `storage_failed` when the object or the digests are gone, or a block does not have its digest.
 */
export async function* carChunks(deps: CarBytesDeps, source: CarSource, range: ByteRange): AsyncGenerator<Uint8Array> {
  const car = carLayoutOf(source)
  const end = range.offset + range.length
  let at = range.offset
  if (at < car.headerBytes && at < end) {
    const header = carHeader([CID.parse(source.rootCid)]).subarray(at, Math.min(end, car.headerBytes))
    yield header
    at += header.length
  }
  while (at < end) {
    const { node, offsetBytes } = car.sectionAt(at)
    for (const bytes of await sectionOf(deps, source, car.dag, node)) {
      // Of the first section and of the last one only a part may be wanted.
      const from = Math.max(0, at - offsetBytes - bytes.offset)
      const part = bytes.bytes.subarray(from, Math.max(from, end - offsetBytes - bytes.offset))
      if (part.length === 0) continue
      yield part
      at += part.length
    }
  }
}

/** What stands before a block, and the block, each with its place in the section. */
async function sectionOf(deps: CarBytesDeps, source: CarSource, dag: DagLayout, number: number) {
  const { kind, offsetBytes, lengthBytes, firstChild, childCount } = dag.node(number)
  const digest = await digestsOf(deps, source, number, 1)
  const block =
    kind === 'interior'
      ? encodeBlock(dag, number, { childDigests: await digestsOf(deps, source, firstChild, childCount) })
      : encodeBlock(dag, number, { chunk: await readChunk(deps, source, { offset: offsetBytes, length: lengthBytes }) })
  if (Buffer.compare(sha256.of(block), digest) !== 0) throw failed(`block ${number} of DAG ${source.dag} is damaged`)
  const head = carSection(nodeCid(dag, number, digest), block.length)
  return [
    { offset: 0, bytes: head },
    { offset: head.length, bytes: block },
  ]
}

/** The CID of a node of a DAG, of version 1. */
export function nodeCid(dag: DagLayout, number: number, digest: Uint8Array<ArrayBuffer>): CID {
  return CID.createV1(dag.node(number).kind === 'raw-leaf' ? RAW : DAG_PB, create(SHA2_256, digest))
}

async function digestsOf(
  { records }: CarBytesDeps,
  { dag }: CarSource,
  from: number,
  count: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const digests = dag === null ? undefined : await records.blocks.digests({ dag, from, count })
  if (digests?.length !== count * DIGEST_BYTES) throw failed(`the digests of DAG ${dag} are gone`)
  return new Uint8Array(digests)
}

async function readChunk({ readObject }: CarBytesDeps, { object }: CarSource, range: ByteRange): Promise<Uint8Array> {
  const chunk = new Uint8Array(range.length)
  let filled = 0
  if (range.length === 0) return chunk
  for await (const bytes of readObject(object, range)) {
    chunk.set(bytes, filled)
    filled += bytes.length
  }
  return chunk
}

function failed(what: string): LadeError<'storage_failed'> {
  return new LadeError('storage_failed', { retryAfterSeconds: 60 }, { cause: new Error(what) })
}
