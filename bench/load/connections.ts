import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { readMachineBusySeconds } from '../process-usage.ts'
import type { Latency } from '../sample.ts'
import { percentile } from '../statistics.ts'
import { ResponseReader } from './response-reader.ts'

/** What a load process measured: whole requests, each answered with 200. */
export interface LoadResult {
  completed: number
  /** From the first request to the last answer. */
  seconds: number
  latencyMs: Latency
  machineBusySeconds: number
}

export interface LoadOptions {
  port: number
  connections: number
  /** No request is started after this. */
  seconds: number
  /** Makes the writer of one connection: called for each request, it gives the bytes, or `undefined` to end early. */
  openConnection(): () => Buffer | undefined
}

/**
 * Keeps one request in flight on each of `connections` keep-alive connections.
 *
 * The bytes that the writer gives may be changed once the answer to them has come: a server has read all of a
 * request before it answers with 200, and any other answer ends the run.
 *
 * @throws Error on any answer but 200 and on a connection that closes.
 */
export async function loadConnections(options: LoadOptions): Promise<LoadResult> {
  const sockets = Array.from({ length: options.connections }, () =>
    connect({ port: options.port, host: '127.0.0.1', noDelay: true }),
  )
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const latenciesMs: number[] = []
  const busyBefore = readMachineBusySeconds()
  const startedAt = performance.now()
  const deadline = startedAt + options.seconds * 1000
  await Promise.all(sockets.map((socket) => drive(socket, options.openConnection(), deadline, latenciesMs)))
  const seconds = (performance.now() - startedAt) / 1000
  const machineBusySeconds = readMachineBusySeconds() - busyBefore
  for (const socket of sockets) socket.destroy()
  const latencyMs = { p50: percentile(latenciesMs, 0.5), p99: percentile(latenciesMs, 0.99) }
  return { completed: latenciesMs.length, seconds, latencyMs, machineBusySeconds }
}

function drive(
  socket: Socket,
  nextRequest: () => Buffer | undefined,
  deadline: number,
  latenciesMs: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const reader = new ResponseReader()
    let sentAt = performance.now()
    const send = () => {
      sentAt = performance.now()
      const request = sentAt < deadline ? nextRequest() : undefined
      if (request === undefined) resolve()
      else socket.write(request)
    }
    socket.on('data', (chunk) => {
      const response = reader.take(chunk)
      if (response === undefined) return
      latenciesMs.push(performance.now() - sentAt)
      if (response.status === 200) send()
      else reject(new Error(`a request was answered with ${response.status}: ${response.body}`))
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the server closed a keep-alive connection')))
    send()
  })
}
