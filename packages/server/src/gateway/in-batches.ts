import type { DagReader } from '../retrieval/dag-reader.ts'

/** Small parts go out together, about this much at a time. */
const BATCH_BYTES = 65_536

/**
 * Small parts together, big ones as they are: a block is not copied for this. The bytes pay for the work of the reader.
 *
 * @param isRestGiven - true to give what waits before an error is thrown. Otherwise an error that comes before the first batch is known
 *   before any byte.
 */
export async function* inBatches(
  parts: AsyncIterable<Uint8Array>,
  reader: DagReader,
  { isRestGiven }: { readonly isRestGiven: boolean },
): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  const batch = (): Uint8Array => {
    const bytes = Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    reader.moved(bytes.length)
    return bytes
  }
  try {
    for await (const part of parts) {
      const isBig = part.length >= BATCH_BYTES
      if (isBig && waitingBytes > 0) yield batch()
      waiting.push(part)
      waitingBytes += part.length
      if (waitingBytes < BATCH_BYTES) continue
      if (!isBig) yield batch()
      else {
        waiting = []
        waitingBytes = 0
        reader.moved(part.length)
        yield part
      }
    }
  } catch (error) {
    if (isRestGiven && waitingBytes > 0) yield batch()
    throw error
  }
  if (waitingBytes > 0) yield batch()
}
