import type { Readable } from 'node:stream'

/**
 * Copies the chunks of `source` into big buffers and hands each on when it is full, the last one when the source ends.
 *
 * The source is paused while no buffer is free. `hand` must call `release` once per buffer, now or later; the bytes
 * are its own until then.
 *
 * @param free - buffers of one length; all of them are back in it once every `release` was called and this has resolved.
 * @returns when the last buffer has been handed on.
 */
export function coalesce(
  source: Readable,
  free: Buffer[],
  hand: (bytes: Buffer, release: () => void) => void,
): Promise<void> {
  let filling: Buffer | undefined
  let filledBytes = 0
  let waiting: Buffer | undefined

  const handOn = (buffer: Buffer): void => {
    filling = undefined
    hand(buffer.subarray(0, filledBytes), () => {
      free.push(buffer)
      goOn()
    })
  }
  const take = (chunk: Buffer): void => {
    let rest = chunk
    while (rest.length > 0) {
      if (filling === undefined) {
        filling = free.pop()
        filledBytes = 0
      }
      if (filling === undefined) {
        waiting = rest
        source.pause()
        return
      }
      const copiedBytes = rest.copy(filling, filledBytes)
      filledBytes += copiedBytes
      rest = rest.subarray(copiedBytes)
      if (filledBytes === filling.length) handOn(filling)
    }
  }
  const goOn = (): void => {
    if (waiting === undefined) return
    const rest = waiting
    waiting = undefined
    take(rest)
    if (waiting === undefined) source.resume()
  }

  return new Promise((resolve, reject) => {
    source.on('data', take)
    source.once('error', reject)
    source.once('end', () => {
      if (filling !== undefined) handOn(filling)
      resolve()
    })
  })
}
