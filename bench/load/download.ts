/**
 * Load process: downloads one object over one connection into one buffer that is used again and again.
 *
 * Argument: {@link DownloadInput} as JSON. Prints {@link DownloadResult} as JSON.
 */
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { readMachineBusySeconds } from '../process-usage.ts'

export interface DownloadInput {
  port: number
  path: string
  sizeBytes: number
  /** When given, the body is hashed and must match; this makes the client slower than the server. */
  sha256?: string
}

export interface DownloadResult {
  /** From the request to the last byte of the body. */
  seconds: number
  machineBusySeconds: number
}

const RECEIVE_BUFFER_BYTES = 512 * 1024

function download(input: DownloadInput): Promise<DownloadResult> {
  return new Promise((resolve, reject) => {
    const hash = input.sha256 === undefined ? undefined : createHash('sha256')
    const buffer = Buffer.alloc(RECEIVE_BUFFER_BYTES)
    let head = Buffer.alloc(0)
    let headDone = false
    let bodyBytes = 0
    let startedAt = 0
    let busyBefore = 0

    const take = (lengthBytes: number): boolean => {
      let body = buffer.subarray(0, lengthBytes)
      if (!headDone) {
        head = Buffer.concat([head, body])
        const end = head.indexOf('\r\n\r\n')
        if (end === -1) return true
        headDone = true
        checkHead(head.toString('latin1', 0, end), input.sizeBytes)
        body = head.subarray(end + 4)
      }
      hash?.update(body)
      bodyBytes += body.length
      if (bodyBytes < input.sizeBytes) return true
      const seconds = (performance.now() - startedAt) / 1000
      const machineBusySeconds = readMachineBusySeconds() - busyBefore
      socket.destroy()
      const sha256 = hash?.digest('hex')
      if (sha256 === input.sha256) resolve({ seconds, machineBusySeconds })
      else reject(new Error(`the download hashes to ${sha256}, not to ${input.sha256}`))
      return false
    }

    const socket = connect({
      port: input.port,
      host: '127.0.0.1',
      onread: {
        buffer,
        callback(lengthBytes) {
          try {
            return take(lengthBytes)
          } catch (error) {
            reject(error)
            return false
          }
        },
      },
    })
    socket.once('connect', () => {
      busyBefore = readMachineBusySeconds()
      startedAt = performance.now()
      socket.write(`GET ${input.path} HTTP/1.1\r\nHost: 127.0.0.1:${input.port}\r\n\r\n`)
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error(`the connection closed after ${bodyBytes} bytes of the body`)))
  })
}

function checkHead(head: string, sizeBytes: number): void {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (!head.startsWith('HTTP/1.1 200 ') || Number(length) !== sizeBytes) {
    throw new Error(`the download was answered with: ${head}`)
  }
}

console.log(JSON.stringify(await download(JSON.parse(process.argv[2] ?? ''))))
