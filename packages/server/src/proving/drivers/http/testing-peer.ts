import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { onTestFinished } from 'vitest'
import type { TestCertificate } from './testing-certificate.ts'

/** Somebody who answers what a test wants, to the byte. */
export interface TestPeer {
  readonly origin: string
  readonly port: number
  /** How many connections there were. */
  readonly connections: number
  /** Every head that came in, without bodies. */
  readonly heads: readonly string[]
}

/** Talks on one connection, once the head of a request is there, and so many bytes of its body with it. */
export type Talk = (socket: Socket, head: string, bodyBytes: number) => void | Promise<void>

/** Listens until the test has ended. */
export async function startPeer(talk: Talk, tls?: TestCertificate): Promise<TestPeer> {
  const sockets = new Set<Socket>()
  const heads: string[] = []
  let connections = 0
  const onConnection = (socket: Socket): void => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let text = ''
    const onData = (chunk: Buffer): void => {
      text += chunk.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return
      socket.off('data', onData)
      heads.push(text.slice(0, end))
      void talk(socket, text.slice(0, end), text.length - end - 4)
    }
    socket.on('data', onData)
  }
  const server: Server = tls === undefined ? createServer(onConnection) : createTlsServer(tls, onConnection)
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    heads,
    get connections() {
      return connections
    },
  }
}

/** A whole answer as it goes over the wire. */
export function answerOf(status: number, body = '', headers: readonly string[] = []): string {
  const lines = [`HTTP/1.1 ${status} Said`, `content-length: ${Buffer.byteLength(body)}`, ...headers]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** Writes as long as the other side reads, up to so many bytes; answers how many were written. */
export async function flood(socket: Socket, chunk: Buffer, totalBytes: number): Promise<number> {
  let written = 0
  const isOpen = () => !socket.destroyed && socket.writable
  while (written < totalBytes && isOpen()) {
    written += chunk.length
    if (socket.write(chunk)) continue
    await new Promise<void>((resolve) => {
      socket.once('drain', resolve)
      socket.once('close', () => resolve())
    })
  }
  return written
}
