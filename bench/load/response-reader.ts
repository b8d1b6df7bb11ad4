import type { Socket } from 'node:net'

/** One HTTP response, taken apart as far as a load process needs. */
export interface ReadResponse {
  status: number
  body: string
}

/**
 * Collects the chunks of one connection until a response is whole. Made for one request in flight and small bodies:
 * it does as little as it can, since what the client spends the server lacks. Knows `Content-Length` and plain
 * chunked bodies; of a chunked one it gives the raw text.
 */
export class ResponseReader {
  #held: Buffer | undefined

  /** Takes the next chunk; gives the response once its last byte has come, `undefined` before. */
  take(chunk: Buffer): ReadResponse | undefined {
    const bytes = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk])
    const headEnd = bytes.indexOf('\r\n\r\n')
    const end = headEnd === -1 ? undefined : responseEnd(bytes, headEnd + 4)
    if (end === undefined) {
      this.#held = bytes
      return undefined
    }
    if (bytes.length > end) throw new Error('the server sent more than one response to one request')
    this.#held = undefined
    return { status: Number(bytes.toString('latin1', 9, 12)), body: bytes.toString('utf8', headEnd + 4, end) }
  }
}

/** The answer to one request on this connection. @throws {Error} when it is another than 200, or none comes. */
export function nextResponse(socket: Socket): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const reader = new ResponseReader()
    socket.on('data', (chunk) => {
      const response = reader.take(chunk)
      if (response === undefined) return
      // An early refusal: the rest of the body has nobody who reads it.
      if (response.status === 200) resolve(response)
      else reject(new Error(`the upload was answered with ${response.status}: ${response.body}`))
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the server closed the connection before it answered')))
  })
}

function responseEnd(bytes: Buffer, bodyStart: number): number | undefined {
  const head = bytes.toString('latin1', 0, bodyStart)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) {
    const end = bodyStart + Number(length)
    return bytes.length >= end ? end : undefined
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error(`a response without a length: ${head}`)
  return bytes.subarray(bodyStart).toString('latin1').endsWith('0\r\n\r\n') ? bytes.length : undefined
}
