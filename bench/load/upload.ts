/**
 * Load process: sends one big body over one connection and waits for the answer.
 *
 * Argument: {@link UploadInput} as JSON. Prints {@link UploadResult} as JSON.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { readMachineBusySeconds } from '../process-usage.ts'
import { BLOCK_BYTES, seededBytes, stamp } from '../stamped-body.ts'
import { nextResponse } from './response-reader.ts'

export interface UploadInput {
  port: number
  /** Path and query of the request. */
  path: string
  /** Sent as the bearer token, when there is one. */
  token?: string
  seed: number
  sizeBytes: number
  /** The answer must be a JSON object whose `sha256` is this. */
  sha256: string
}

export interface UploadResult {
  /** From the first byte sent to the last byte of the answer. */
  seconds: number
  machineBusySeconds: number
}

/** Blocks handed to the socket and not yet taken by the kernel. */
const BLOCKS_IN_FLIGHT = 3

async function upload(input: UploadInput): Promise<UploadResult> {
  const block = seededBytes(input.seed, BLOCK_BYTES)
  const blocks = Array.from({ length: BLOCKS_IN_FLIGHT }, () => Buffer.from(block))
  const socket = connect({ port: input.port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  const answer = nextResponse(socket)

  const busyBefore = readMachineBusySeconds()
  const startedAt = performance.now()
  socket.write(requestHead(input))
  const taken: Promise<void>[] = []
  for (let index = 0; index < input.sizeBytes / BLOCK_BYTES; index++) {
    const buffer = blocks[index % BLOCKS_IN_FLIGHT]
    if (buffer === undefined) throw new TypeError('no block buffer')
    // The buffer is stamped again only once the kernel has its former content.
    await Promise.race([taken[index % BLOCKS_IN_FLIGHT], answer])
    stamp(buffer, index)
    taken[index % BLOCKS_IN_FLIGHT] = written(socket, buffer)
  }
  const { status, body } = await answer
  const seconds = (performance.now() - startedAt) / 1000
  const machineBusySeconds = readMachineBusySeconds() - busyBefore
  socket.destroy()

  if (status !== 200) throw new Error(`the upload was answered with ${status}: ${body}`)
  if (!body.includes(input.sha256)) throw new Error(`the answer does not name the sha256 of the body: ${body}`)
  return { seconds, machineBusySeconds }
}

function requestHead({ path, port, token, sizeBytes }: UploadInput): string {
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
  return (
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${authorization}` +
    `Content-Type: application/octet-stream\r\nContent-Length: ${sizeBytes}\r\n\r\n`
  )
}

/** Ends when the buffer is free again, also after a failure: that one shows at the connection, and so in the answer. */
function written(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    socket.write(bytes, () => resolve())
  })
}

console.log(JSON.stringify(await upload(JSON.parse(process.argv[2] ?? ''))))
