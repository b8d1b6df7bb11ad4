import { readSlice } from '../hashing/read-slice.ts'
import type { ReadFile } from '../hashing/slice.ts'
import type { ResumingReader } from './resuming-reader.ts'
import type { Verifier } from './verifier.ts'

type Chunk = Uint8Array<ArrayBuffer>

export interface BodyOptions {
  readonly reader: ResumingReader
  /** Undefined for what is handed over unchecked. */
  readonly verifier: Verifier | undefined
  /** What comes before what is read. */
  readonly have: Blob | undefined
  readonly readFile: ReadFile
  /** Told how many bytes have been handed over so far. */
  readonly onReceived: (bytes: number) => void
}

const HAVE_BLOCK_BYTES = 1024 * 1024

/** The bytes as a stream that is read when it is asked. */
export function bodyOf(options: BodyOptions): ReadableStream<Chunk> {
  const chunks = checkedChunks(options)
  let receivedBytes = 0
  return new ReadableStream<Chunk>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) return controller.close()
        controller.enqueue(value)
        receivedBytes += value.length
        options.onReceived(receivedBytes)
      },
      cancel: () => options.reader.close(),
    },
    { highWaterMark: 0 },
  )
}

/** With a verifier, each chunk waits for the next one, so that the last of them waits for the verdict. */
async function* checkedChunks({ reader, verifier, have, readFile }: BodyOptions): AsyncGenerator<Chunk, void> {
  try {
    if (have !== undefined && verifier !== undefined) {
      const blocks = readSlice({ kind: 'blob', blob: have }, { blockBytes: HAVE_BLOCK_BYTES, readFile })
      for await (const block of blocks) await verifier.update(block)
    }
    let held: Chunk | undefined
    for (let chunk = await reader.next(); chunk !== undefined; chunk = await reader.next()) {
      await verifier?.update(chunk)
      const ready = verifier === undefined ? chunk : held
      if (ready !== undefined) yield ready
      held = chunk
    }
    await verifier?.finish()
    if (verifier !== undefined && held !== undefined) yield held
  } finally {
    reader.close()
  }
}

/** Reads a stream to its end. @throws what it ends by. */
export async function collect(stream: ReadableStream<Chunk>): Promise<Chunk[]> {
  const reader = stream.getReader()
  const chunks: Chunk[] = []
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return chunks
    chunks.push(value)
  }
}
