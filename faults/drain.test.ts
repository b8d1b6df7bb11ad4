import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Caller, send, tokenCaller } from './caller.ts'
import { type Content, newContent, sha256Hex } from './content.ts'
import { readDataDirectory } from './data-directory.ts'
import { atRest } from './invariants.ts'
import { PLAN } from './plan.ts'
import { openSocket, uploadHead } from './raw-upload.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const KB = 1024
const UPLOADS = 50

/** An upload that is sent in two parts, so that a signal can come between them. */
interface SlowUpload {
  readonly content: Content
  readonly socket: Socket
  /** Everything that the service answered, once it closed the connection. */
  readonly answer: Promise<string>
  sendRest(): void
}

async function startSlowUpload(server: ServerProcess, caller: Caller, sizeBytes: number): Promise<SlowUpload> {
  const content = newContent(sizeBytes)
  const socket = await openSocket(server.url)
  const body = content.bytes()
  const half = Math.floor(sizeBytes / 2)
  let received = ''
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  const answer = once(socket, 'close').then(() => received)
  socket.write(uploadHead(server.url, caller, content))
  socket.write(body.subarray(0, half))
  return { content, socket, answer, sendRest: () => void socket.write(body.subarray(half)) }
}

function statusOf(answer: string): string {
  return answer.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)
}

describe('SIGTERM', () => {
  test.each(Array.from({ length: PLAN.drains }, (_, index) => index))(
    'lets uploads under way finish, refuses new connections, and ends with 0 (%i)',
    async () => {
      const server = await startServer()
      const user = await tokenCaller(server.url)
      const uploads = await Promise.all(
        Array.from({ length: UPLOADS }, (_, index) =>
          startSlowUpload(server, user, index % 2 === 0 ? 40 * KB : 200 * KB),
        ),
      )
      await sleep(300)
      server.signal('SIGTERM')
      await sleep(200)
      await expect(openSocket(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
      for (const upload of uploads) {
        await sleep(10)
        upload.sendRest()
      }
      const answers = await Promise.all(uploads.map((upload) => upload.answer))
      expect(new Set(answers.map(statusOf)), answers[0]).toEqual(new Set(['200']))
      expect(await server.ended(10_000)).toEqual({ code: 0, signal: null })
      expect(server.log()).toBe('')

      const data = readDataDirectory(server.dataDir)
      expect(atRest(data)).toEqual([])
      expect(data.usage.get(user.principal)).toBe((UPLOADS / 2) * 240 * KB)
      const next = await startServer({ dataDir: server.dataDir })
      for (const { content } of uploads) {
        const answer = await send(next.url, 'GET', `/p/${content.cid}`)
        expect([answer.status, sha256Hex(answer.body)]).toEqual([200, content.cid])
      }
    },
  )

  test('ends an upload that never ends when timeouts is over, and returns its reservation', async () => {
    const server = await startServer({ env: { LADE_DRAIN_SECONDS: '1' } })
    const user = await tokenCaller(server.url)
    const uploads = await Promise.all([40 * KB, 200 * KB].map((bytes) => startSlowUpload(server, user, bytes)))
    await sleep(200)
    const dripping = setInterval(() => {
      for (const { socket } of uploads) if (socket.writable) socket.write('.')
    }, 100)
    const startedAt = Date.now()
    server.signal('SIGTERM')
    const answers = await Promise.all(uploads.map((upload) => upload.answer))
    clearInterval(dripping)
    expect(await server.ended(10_000)).toEqual({ code: 0, signal: null })
    expect(Date.now() - startedAt).toBeGreaterThan(900)
    expect(Date.now() - startedAt).toBeLessThan(8000)
    for (const answer of answers) {
      expect(statusOf(answer), answer).toBe('503')
      expect(answer).toContain('"shutting_down"')
    }
    const data = readDataDirectory(server.dataDir)
    expect(atRest(data)).toEqual([])
    expect([...data.usage]).toEqual([])
    expect(data.files).toEqual([])
  })
})
