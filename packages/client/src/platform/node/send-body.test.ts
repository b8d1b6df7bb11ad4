import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Slice } from '../../hashing/slice.ts'
import { noise } from '../../testing/noise.ts'
import { sendBody } from './send-body.ts'

const MIB = 1_048_576

let server: Server
let url: string
beforeEach(async () => {
  server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const bytes = noise(8 * MIB)
const body: Slice = { kind: 'bytes', bytes }
const send = (slice: Slice = body, signal?: AbortSignal, onSent?: (sentBytes: number) => void) =>
  sendBody({ method: 'POST', url, headers: { 'x-test': 'a' }, signal, onSent }, slice)

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const received = await bodyOf(request)
  response.setHeader('x-same', String(received.equals(bytes)))
  response.end(`${request.headers['content-length']} ${request.headers['x-test']}`)
}

describe('sendBody', () => {
  it('sends a body with its length, says how far it is, and answers status, headers and body', async () => {
    server.on('request', echo)
    const sent: number[] = []
    const response = await send(body, undefined, (sentBytes) => sent.push(sentBytes))
    expect([response.status, await response.text()]).toEqual([200, `${bytes.length} a`])
    expect(response.headers.get('x-same')).toBe('true')
    expect(sent).toEqual(sent.toSorted((a, b) => a - b))
    expect(sent.at(-1)).toBe(bytes.length)
  })

  it('sends no byte of a big body that is refused by its head', async () => {
    server.on('checkContinue', (_, response) => response.writeHead(413).end('too large'))
    let sentBytes = 0
    const response = await send(body, undefined, (bytes) => {
      sentBytes = bytes
    })
    expect([response.status, await response.text(), sentBytes]).toEqual([413, 'too large', 0])
  })

  it('does not wait for long where nobody knows Expect', async () => {
    server.on('checkContinue', echo)
    const begun = performance.now()
    expect((await send()).headers.get('x-same')).toBe('true')
    expect(performance.now() - begun).toBeLessThan(5000)
  })

  it('does not ask before a small body', async () => {
    server.on('request', (request, response) => response.end(String(request.headers.expect)))
    expect(await (await send({ kind: 'bytes', bytes: noise(100) })).text()).toBe('undefined')
  })

  it('stops sending when the answer comes before the end of the body', async () => {
    server.on('request', (request, response) => {
      request.once('data', () => {
        response.writeHead(507, { connection: 'close' }).end('full')
        request.pause()
      })
    })
    let sentBytes = 0
    const response = await send({ kind: 'bytes', bytes: noise(64 * MIB) }, undefined, (bytes) => {
      sentBytes = bytes
    })
    expect([response.status, await response.text()]).toEqual([507, 'full'])
    expect(sentBytes).toBeLessThan(64 * MIB)
  })

  it('rejects when the connection is reset, and with what the body cannot be read by', async () => {
    server.on('request', (request) => request.once('data', () => request.socket.resetAndDestroy()))
    await expect(send()).rejects.toThrow(/ECONNRESET|EPIPE|socket hang up/)
    const closed: Slice = { kind: 'file', fd: 2 ** 30, offsetBytes: 0, sizeBytes: 10 }
    await expect(send(closed)).rejects.toMatchObject({ code: 'EBADF' })
  })

  it('rejects when it is aborted, before and in the middle', async () => {
    server.on('request', (request) => request.pause())
    const controller = new AbortController()
    const sending = send(body, controller.signal, () => controller.abort())
    await expect(sending).rejects.toMatchObject({ name: 'AbortError' })
    await expect(send(body, controller.signal)).rejects.toMatchObject({ name: 'AbortError' })
  })
})
