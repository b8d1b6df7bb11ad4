import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { expect } from 'vitest'
import type { Problem } from './shapes.ts'

/** A lingering close gives a client time to read; after this it has to have happened. */
const CLOSE_WITHIN_MS = 5_000
/** Enough to see a second response that should not be there, where the close itself does not matter. */
export const NO_CLOSE_MS = 50

/** One response out of a raw byte stream. Header names are lower-case. */
export interface RawResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** A TCP or TLS connection on which the suite writes what no HTTP client would. */
export class RawConnection {
  readonly #socket: net.Socket
  #received = Buffer.alloc(0)
  #closed = false

  constructor(socket: net.Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
    })
    // A reset counts as closed: what matters is what was read before it.
    socket.on('error', () => {
      this.#closed = true
    })
    socket.on('end', () => {
      this.#closed = true
    })
    socket.on('close', () => {
      this.#closed = true
    })
  }

  static open(origin: URL): Promise<RawConnection> {
    const secure = origin.protocol === 'https:'
    const port = Number(origin.port || (secure ? 443 : 80))
    return new Promise((resolve, reject) => {
      const socket: net.Socket = secure
        ? tls.connect({ host: origin.hostname, port, servername: origin.hostname, ALPNProtocols: ['http/1.1'] })
        : net.connect({ host: origin.hostname, port, allowHalfOpen: true })
      socket.once('error', reject)
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        socket.removeListener('error', reject)
        resolve(new RawConnection(socket))
      })
    })
  }

  get isClosed(): boolean {
    return this.#closed
  }

  get responses(): RawResponse[] {
    return parseResponses(this.#received)
  }

  /** The responses that are not 1xx. */
  get finals(): RawResponse[] {
    return this.responses.filter((response) => response.status >= 200)
  }

  write(data: string | Uint8Array): void {
    if (!this.#socket.destroyed) this.#socket.write(data)
  }

  /** Says that nothing more will come, and keeps reading. */
  end(): void {
    this.#socket.end()
  }

  /** Resets the connection. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Waits until `done` holds or `withinMs` have passed; answers whether it held. */
  async until(done: () => boolean, withinMs: number): Promise<boolean> {
    const end = Date.now() + withinMs
    while (!done()) {
      if (Date.now() > end) return false
      await sleep(5)
    }
    return true
  }
}

function parseResponses(bytes: Buffer): RawResponse[] {
  const responses: RawResponse[] = []
  let rest = bytes
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n')
    if (headEnd < 0) return responses
    const [statusLine = '', ...lines] = rest.subarray(0, headEnd).toString('latin1').split('\r\n')
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? Number.NaN)
    if (Number.isNaN(status)) throw new Error(`not a status line: ${JSON.stringify(statusLine)}`)
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const bodyStart = headEnd + 4
    const isBodiless = status < 200 || status === 204 || status === 304
    const chunked = headers.get('transfer-encoding') === 'chunked'
    const chunkedEnd = rest.indexOf('0\r\n\r\n', bodyStart)
    if (chunked && chunkedEnd < 0) return responses
    const bodyEnd = isBodiless
      ? bodyStart
      : chunked
        ? chunkedEnd + 5
        : bodyStart + Number(headers.get('content-length') ?? rest.length - bodyStart)
    if (bodyEnd > rest.length) return responses
    responses.push({ status, headers, body: rest.subarray(bodyStart, bodyEnd).toString('utf8') })
    rest = rest.subarray(bodyEnd)
  }
}

/** Header lines joined into a request head. `Host` is not added. */
export const head = (startLine: string, ...lines: string[]): string => `${[startLine, ...lines].join('\r\n')}\r\n\r\n`

export interface RawExchange {
  readonly responses: readonly RawResponse[]
  readonly first: RawResponse | undefined
  readonly closed: boolean
}

/** Writes `data`, waits for a final response or the end, then up to `closeWithinMs` for the close. */
export async function exchangeRaw(
  origin: URL,
  data: string | Uint8Array,
  closeWithinMs = CLOSE_WITHIN_MS,
): Promise<RawExchange> {
  const connection = await RawConnection.open(origin)
  try {
    connection.write(data)
    await connection.until(() => connection.isClosed || connection.finals.length > 0, 10_000)
    await connection.until(() => connection.isClosed, closeWithinMs)
    return { responses: connection.responses, first: connection.finals[0], closed: connection.isClosed }
  } finally {
    connection.destroy()
  }
}

/** Checks one refusal on the wire: its status, its code, and that no other request was seen after it. */
export function expectRefused(
  exchanged: RawExchange,
  statuses: readonly number[],
  codes: readonly string[],
  options: { closed: boolean } = { closed: true },
): void {
  const story = JSON.stringify(exchanged.responses.map(({ status, body }) => ({ status, body })))
  expect(exchanged.first, `no response; ${exchanged.closed ? 'closed' : 'left open'}`).toBeDefined()
  expect(statuses, story).toContain(exchanged.first?.status)
  const problem = JSON.parse(exchanged.first?.body ?? '{}') as Problem
  expect(codes, story).toContain(problem.error)
  expect(exchanged.responses, story).toHaveLength(1)
  if (options.closed) expect(exchanged.closed, `left open after ${story}`).toBe(true)
}
