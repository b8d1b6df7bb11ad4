/**
 * Load process: sends one big body by tus over one connection, in requests of equal length, and waits for the last answer.
 *
 * Argument: {@link TusUploadInput} as JSON. Prints an `UploadResult` as JSON.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { readMachineBusySeconds } from '../process-usage.ts'
import { BLOCK_BYTES, seededBytes, stamp } from '../stamped-body.ts'
import type { UploadInput, UploadResult } from './upload.ts'

export interface TusUploadInput extends Omit<UploadInput, 'path'> {
  /** The length of each request but the last: a whole number of blocks. */
  requestBytes: number
}

const BLOCKS_IN_FLIGHT = 3

async function upload(input: TusUploadInput): Promise<UploadResult> {
  const { port, token, seed, sizeBytes, requestBytes, sha256 } = input
  const block = seededBytes(seed, BLOCK_BYTES)
  const blocks = Array.from({ length: BLOCKS_IN_FLIGHT }, () => Buffer.from(block))
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  const headers = `Host: 127.0.0.1:${port}\r\nTus-Resumable: 1.0.0\r\n${token === undefined ? '' : `Authorization: Bearer ${token}\r\n`}`

  const busyBefore = readMachineBusySeconds()
  const startedAt = performance.now()
  const opened = nextResponse(socket, 201)
  socket.write(
    `POST /api/tus HTTP/1.1\r\n${headers}Content-Length: 0\r\nUpload-Length: ${sizeBytes}\r\n` +
      `Upload-Metadata: cid ${Buffer.from(sha256).toString('base64')}\r\n\r\n`,
  )
  const location = /^location: (.*?)\r?$/im.exec((await opened).head)?.[1]
  const { pathname } = new URL(location ?? '')
  let last = ''
  let index = 0
  for (let offset = 0; offset < sizeBytes; offset += requestBytes) {
    const bytes = Math.min(requestBytes, sizeBytes - offset)
    const answer = nextResponse(socket, 204)
    socket.write(
      `PATCH ${pathname} HTTP/1.1\r\n${headers}Content-Type: application/offset+octet-stream\r\n` +
        `Upload-Offset: ${offset}\r\nContent-Length: ${bytes}\r\n\r\n`,
    )
    const taken: Promise<void>[] = []
    for (let sent = 0; sent < bytes; sent += BLOCK_BYTES) {
      const buffer = blocks[index % BLOCKS_IN_FLIGHT]
      if (buffer === undefined) throw new TypeError('no block buffer')
      await Promise.race([taken[index % BLOCKS_IN_FLIGHT], answer])
      stamp(buffer, index)
      taken[index % BLOCKS_IN_FLIGHT] = new Promise((resolve) => {
        socket.write(buffer, () => resolve())
      })
      index += 1
    }
    last = (await answer).head
  }
  const seconds = (performance.now() - startedAt) / 1000
  const machineBusySeconds = readMachineBusySeconds() - busyBefore
  socket.destroy()
  if (!last.toLowerCase().includes(`x-cid: ${sha256}`)) throw new Error(`the answer does not name the body: ${last}`)
  return { seconds, machineBusySeconds }
}

/** None of these answers has a body. */
function nextResponse(socket: Socket, expected: number): Promise<{ head: string }> {
  return new Promise((resolve, reject) => {
    let head = ''
    const take = (chunk: Buffer): void => {
      head += chunk.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      socket.off('data', take)
      if (head.startsWith(`HTTP/1.1 ${expected} `)) resolve({ head })
      else reject(new Error(`the upload was answered with ${head}`))
    }
    socket.on('data', take)
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the server closed the connection before it answered')))
  })
}

console.log(JSON.stringify(await upload(JSON.parse(process.argv[2] ?? ''))))
