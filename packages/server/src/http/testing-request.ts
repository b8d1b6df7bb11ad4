import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** A request head as Node would hand it over, without a connection: raw lines, and the headers that Node makes of them. */
export function requestOf(head: {
  readonly method?: string
  readonly url?: string
  readonly httpVersion?: string
  /** Name and value, alternating, as they stood on the wire. A Host goes before them where they have none. */
  readonly lines?: readonly string[]
  /** Leaves Host away. */
  readonly hasNoHost?: boolean
  readonly peer?: string | undefined
}): IncomingMessage {
  const { method = 'GET', url = '/', httpVersion = '1.1', hasNoHost = false } = head
  const given = head.lines ?? []
  const needsHost = !hasNoHost && !given.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  const lines = needsHost ? ['Host', 'h.example', ...given] : [...given]
  const socket = new Socket()
  if ('peer' in head) Object.defineProperty(socket, 'remoteAddress', { value: head.peer })
  const request = new IncomingMessage(socket)
  request.method = method
  request.url = url
  request.httpVersion = httpVersion
  request.rawHeaders = lines
  for (let index = 0; index < lines.length; index += 2) {
    const name = (lines[index] ?? '').toLowerCase()
    const before = request.headers[name]
    const value = lines[index + 1] ?? ''
    // What Node does with a header that is no list: the first one counts.
    if (before === undefined) request.headers[name] = value
    else if (name === 'x-forwarded-for') request.headers[name] = `${String(before)}, ${value}`
  }
  return request
}
