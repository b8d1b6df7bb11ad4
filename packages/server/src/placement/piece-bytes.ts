import { LadeError } from '@lade/core/errors'
import { Aggregate, pieceHeight, rawOffsetBytes } from '@lade/core/piece'
import { hexOf } from '@lade/node/hashing/hex'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import type { ByteRange } from '../blobs/blob-store.ts'
import type { PieceBytes } from '../proving/piece-source.ts'
import type { AggregateMember, ObjectHandle, PieceRecord } from '../records/record-store.ts'
import { damagedRecords } from '../records/sql/seals.ts'
import { type ObjectId, type OpenObjectDeps, openObject, type SlicedObjectId } from '../retrieval/open-object.ts'
import { carChunks } from './car-bytes.ts'
import { commitmentOf } from './commitment-of.ts'

const ZEROS = new Uint8Array(65_536)

/** The bytes that a piece has, wherever they come from. */
export interface PieceContent extends PieceBytes {
  /**
   * The bytes of `range` (default: all) in order. A chunk is valid until the next one is asked for, and is not written to.
   *
   * @throws {LadeError} `storage_failed` when bytes are gone or cannot be read.
   * @throws {TypeError} when `range` reaches outside the piece.
   */
  chunks(range?: ByteRange): AsyncIterable<Uint8Array>
  /** Resolves when the piece's first and last bytes can be read. Throws what `chunks` throws. */
  check(): Promise<void>
}

/**
 * The bytes of a piece: a slice of an object, or an aggregate or a CAR, which are stored nowhere and made as they are read.
 *
 * Nothing is opened before bytes are asked for, objects are open only while they are being read, and memory is that of one chunk and,
 * for an aggregate, of its index. The bytes are not judged: whoever takes them holds them against the piece CID.
 *
 * @example
 * for await (const chunk of pieceBytes({ records, blobs }, piece).chunks()) await socket.write(chunk)
 */
export function pieceBytes(deps: OpenObjectDeps, piece: PieceRecord): PieceContent {
  const { sizeBytes } = piece
  const readRange = readerOf(deps, piece)

  function chunks(range: ByteRange = { offset: 0, length: sizeBytes }): AsyncIterable<Uint8Array> {
    const { offset, length } = range
    const isInside = offset >= 0 && length >= 0 && offset + length <= sizeBytes
    if (!isInside) throw new TypeError(`${length} bytes from ${offset} on are not in a piece of ${sizeBytes}`)
    return readRange(range)
  }

  async function read(offset: number, length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length)
    let filled = 0
    for await (const chunk of chunks({ offset, length })) {
      bytes.set(chunk, filled)
      filled += chunk.length
    }
    return bytes
  }

  return {
    sizeBytes,
    chunks,
    read,
    async check() {
      if (sizeBytes === 0) return
      await read(0, 1)
      await read(sizeBytes - 1, 1)
    },
  }
}

function readerOf(deps: OpenObjectDeps, piece: PieceRecord): RangeReader {
  const { source } = piece
  switch (source.kind) {
    case 'object':
      return sliceReader(deps, source)
    case 'aggregate':
      return aggregateReader(deps, piece)
    case 'car': {
      const { records } = deps
      const readObject = (object: ObjectHandle, range: ByteRange) => objectChunks(deps, { object }, range)
      return (range) => carChunks({ records, readObject }, source, range)
    }
  }
}

type RangeReader = (range: ByteRange) => AsyncGenerator<Uint8Array>

function sliceReader(deps: OpenObjectDeps, source: { object: string; offsetBytes: number }): RangeReader {
  const { object, offsetBytes } = source
  return ({ offset, length }) => objectChunks(deps, { object }, { offset: offsetBytes + offset, length })
}

function aggregateReader(deps: OpenObjectDeps, piece: PieceRecord): RangeReader {
  let known: ReturnType<typeof recordedAggregate> | undefined
  return async function* (range) {
    known ??= recordedAggregate(deps, piece)
    const { members, aggregate } = await known
    const end = range.offset + range.length
    const indexOffset = aggregate.rawIndexOffsetBytes
    let at = range.offset
    for (const member of members) {
      const memberOffset = rawOffsetBytes(member.paddedOffsetBytes)
      const from = Math.max(at, memberOffset)
      const to = Math.min(end, memberOffset + member.sizeBytes)
      if (from >= to) continue
      yield* zeros(from - at)
      yield* memberChunks(deps, member, { offset: from - memberOffset, length: to - from })
      at = to
    }
    const zerosEnd = Math.min(end, indexOffset)
    if (at < zerosEnd) {
      yield* zeros(zerosEnd - at)
      at = zerosEnd
    }
    if (at < end) yield aggregate.writeRawIndex().subarray(at - indexOffset, end - indexOffset)
  }
}

/** An aggregate as it is recorded. @throws {LadeError} `storage_failed` when what is recorded makes another piece. */
async function recordedAggregate({ records }: OpenObjectDeps, { id, pieceRoot, sizeBytes }: PieceRecord) {
  const members = await records.placements.membersOf(id)
  const aggregate = aggregateOf(members, sizeBytes)
  const isAsPlaced = aggregate?.segments.every(
    ({ paddedOffsetBytes }, at) => paddedOffsetBytes === members[at]?.paddedOffsetBytes,
  )
  if (aggregate === undefined || !isAsPlaced || hexOf(aggregate.commitment.root) !== pieceRoot) {
    throw damagedRecords(`the members of the aggregate ${pieceRoot} are not those that it was made of`)
  }
  return { members, aggregate }
}

/** Undefined when the members do not fit. */
function aggregateOf(members: readonly AggregateMember[], sizeBytes: number): Aggregate | undefined {
  try {
    const options = { height: pieceHeight(sizeBytes), hashPairs: pieceHashing.hashPairs }
    return new Aggregate(members.map(commitmentOf), options)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

async function* memberChunks(
  deps: OpenObjectDeps,
  member: AggregateMember,
  range: ByteRange,
): AsyncGenerator<Uint8Array> {
  if (!member.isKept) {
    const cause = new Error(`object ${member.object}, a member of an aggregate, is not kept any more`)
    throw new LadeError('storage_failed', { retryAfterSeconds: 60 }, { cause })
  }
  yield* objectChunks(deps, member, range)
}

async function* objectChunks(
  deps: OpenObjectDeps,
  id: ObjectId | SlicedObjectId,
  range: ByteRange,
): AsyncGenerator<Uint8Array> {
  const opened = await openObject(deps, id)
  if (opened.kind === 'inline') {
    const { offset, length } = range
    const bytes = opened.bytes.subarray(offset, offset + length)
    if (bytes.length !== length) throw new TypeError(`object ${id.object} has not ${length} bytes from ${offset} on`)
    yield bytes
    return
  }
  try {
    yield* opened.body.chunks(range)
  } finally {
    await opened.body.close()
  }
}

function* zeros(length: number): Generator<Uint8Array> {
  for (let left = length; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, Math.min(left, ZEROS.length))
}
