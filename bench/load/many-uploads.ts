/**
 * Load process: uploads many big bodies side by side, each slowly, so that all of them are open at the same time.
 *
 * The bodies are one block repeated, and differ in their last block.
 *
 * Argument: {@link ManyUploadsInput} as JSON. Prints {@link ManyUploadsResult} as JSON.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { BLOCK_BYTES, seededBytes, stamp } from '../stamped-body.ts'
import { nextResponse } from './response-reader.ts'

export interface ManyUploadsInput {
  port: number
  /** Upload by upload, in turn. */
  tokens: readonly string[]
  uploads: number
  /** Length of each body: a whole number of blocks ({@link BLOCK_BYTES}). */
  sizeBytes: number
  /** How fast each is sent at most. */
  bytesPerSecond: number
  seed: number
}

export interface ManyUploadsResult {
  seconds: number
}

/** What is sent at once. */
const CHUNK_BYTES = BLOCK_BYTES / 8

async function uploadMany(input: ManyUploadsInput): Promise<ManyUploadsResult> {
  const { seed, uploads, sizeBytes } = input
  const block = seededBytes(seed, BLOCK_BYTES)
  const hashOfFirst = createHash('sha256')
  for (let sentBytes = BLOCK_BYTES; sentBytes < sizeBytes; sentBytes += BLOCK_BYTES) hashOfFirst.update(block)
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: uploads }, (_, index) => {
      const last = Buffer.from(block)
      stamp(last, index)
      const sha256 = hashOfFirst.copy().update(last).digest('hex')
      return upload(input, { index, block, last, sha256 })
    }),
  )
  return { seconds: (performance.now() - startedAt) / 1000 }
}

interface Body {
  readonly index: number
  readonly block: Buffer
  readonly last: Buffer
  readonly sha256: string
}

async function upload(input: ManyUploadsInput, { index, block, last, sha256 }: Body): Promise<void> {
  const { port, tokens, sizeBytes, bytesPerSecond } = input
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  const answer = nextResponse(socket)
  socket.write(
    `POST /api/upload?cid=${sha256} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
      `Authorization: Bearer ${tokens[index % tokens.length]}\r\n` +
      `Content-Type: application/octet-stream\r\nContent-Length: ${sizeBytes}\r\n\r\n`,
  )
  const startedAt = performance.now()
  for (let sentBytes = 0; sentBytes < sizeBytes; sentBytes += CHUNK_BYTES) {
    const from = sentBytes < sizeBytes - BLOCK_BYTES ? block : last
    const at = sentBytes % BLOCK_BYTES
    const taken = new Promise<void>((resolve) => {
      socket.write(from.subarray(at, at + CHUNK_BYTES), () => resolve())
    })
    await Promise.race([taken, answer])
    const dueMs = startedAt + ((sentBytes + CHUNK_BYTES) / bytesPerSecond) * 1000
    await wait(Math.max(0, dueMs - performance.now()))
  }
  const { status, body } = await answer
  socket.destroy()
  if (status !== 200) throw new Error(`an upload was answered with ${status}: ${body}`)
  if (!body.includes(sha256)) throw new Error(`the answer does not name the sha256 of the body: ${body}`)
}

console.log(JSON.stringify(await uploadMany(JSON.parse(process.argv[2] ?? ''))))
