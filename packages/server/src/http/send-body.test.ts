import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { rawRequest } from '../testing/running/raw-request.ts'
import { sendChunks } from './send-body.ts'

describe('sendChunks', () => {
  let server: Server | undefined
  afterEach(() => {
    server?.closeAllConnections()
    server?.close()
  })

  /** Serves what `chunks` gives, and keeps how the sending ended. */
  async function serve(chunks: () => AsyncGenerator<Uint8Array>) {
    const ended = vi.fn()
    server = createServer((_request, response: ServerResponse) => {
      response.writeHead(200)
      sendChunks(response, chunks()).then(
        () => ended('sent'),
        (error: Error) => ended(error.message),
      )
    })
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ended }
  }

  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('some of it')
    throw new Error('no more')
  }

  it('sends every chunk, in order', async () => {
    const { url, ended } = await serve(async function* () {
      for (const text of ['a', 'b', '', 'c']) yield Buffer.from(text)
    })
    expect(await (await fetch(url)).text()).toBe('abc')
    expect(ended).toHaveBeenCalledWith('sent')
  })

  it('cuts the connection when it cannot go on, also for clients that do not count chunks', async () => {
    const { url, ended } = await serve(broken)
    const answer = await rawRequest(url, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(answer).toContain('some of it')
    expect(answer).not.toContain('\r\n0\r\n\r\n')
    expect(ended).toHaveBeenCalledWith('no more')

    const failure = await new Promise<NodeJS.ErrnoException>((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.once('error', resolve)
      socket.once('end', () => reject(new Error('an orderly end says that all was sent')))
      socket.resume()
      socket.write('GET / HTTP/1.0\r\n\r\n')
    })
    expect(failure.code).toBe('ECONNRESET')
  })

  it('asks for no more than the reader takes, and leaves the iteration when the reader goes', async () => {
    let given = 0
    let isLeft = false
    const { url } = await serve(async function* () {
      try {
        for (;;) {
          given += 1
          yield Buffer.alloc(65_536)
        }
      } finally {
        isLeft = true
      }
    })
    const response = await new Promise<IncomingMessage>((resolve) => get(url, resolve))
    response.pause()
    // What the kernel buffers is a few megabytes; after that nothing more is asked for.
    const settled = await vi.waitFor(
      async () => {
        const before = given
        await new Promise((resolve) => setTimeout(resolve, 200))
        expect(given).toBe(before)
        return given
      },
      { timeout: 10_000 },
    )
    expect(settled).toBeLessThan(1000)
    response.destroy()
    await vi.waitFor(() => expect(isLeft).toBe(true), 10_000)
  })
})
