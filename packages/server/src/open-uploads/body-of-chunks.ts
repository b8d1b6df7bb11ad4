import { Readable } from 'node:stream'

/** Chunks that are valid until the next one is asked for, as a body. */
export function bodyOfChunks(chunks: AsyncIterable<Uint8Array>): Readable {
  return Readable.from(copies(chunks), { objectMode: false, highWaterMark: 1 })
}

async function* copies(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield Uint8Array.from(chunk)
}
