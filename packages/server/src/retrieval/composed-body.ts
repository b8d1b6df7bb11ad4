import type { BlobBody, ByteRange } from '../blobs/blob-store.ts'
import type { ObjectPart } from '../records/record-store.ts'
import type { OpenObject } from './open-bytes.ts'

/**
 * The bytes of a composed object: those of its parts, one behind the other.
 *
 * A part is open only while it is being read, so that a file of thousands of parts takes one descriptor.
 *
 * @param openPart - opens a part; what it rejects with ends the iteration.
 */
export function composedBody(
  parts: readonly ObjectPart[],
  openPart: (part: ObjectPart) => Promise<OpenObject>,
): BlobBody {
  const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0)
  let isClosed = false

  async function* chunks(range: ByteRange): AsyncGenerator<Uint8Array> {
    const endBytes = range.offset + range.length
    let startBytes = 0
    for (const part of parts) {
      const from = Math.max(range.offset, startBytes)
      const to = Math.min(endBytes, startBytes + part.sizeBytes)
      if (isClosed) throw new TypeError('the body is closed')
      if (from < to) yield* chunksOf(await openPart(part), { offset: from - startBytes, length: to - from })
      startBytes += part.sizeBytes
    }
  }

  return {
    sizeBytes,
    // Each part is verified by itself, where it is opened.
    version: undefined,
    chunks(range = { offset: 0, length: sizeBytes }) {
      const { offset, length } = range
      const isInside = offset >= 0 && length >= 0 && offset + length <= sizeBytes
      if (!isInside) throw new TypeError(`${length} bytes from ${offset} on are not in a body of ${sizeBytes}`)
      return chunks(range)
    },
    async close() {
      isClosed = true
    },
  }
}

async function* chunksOf(object: OpenObject, range: ByteRange): AsyncGenerator<Uint8Array> {
  if (object.kind === 'inline') {
    yield object.bytes.subarray(range.offset, range.offset + range.length)
    return
  }
  try {
    yield* object.body.chunks(range)
  } finally {
    await object.body.close()
  }
}
