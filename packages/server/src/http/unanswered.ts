import { IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many requests a connection may have without an answer; the answer to the last of them ends it. */
export const MAX_UNANSWERED = 16
/** With this many, of which the last ones are left alone, a connection is cut off. */
const FLOOD = 80

/** Where a connection carries what it has in hand. */
const IN_HAND = Symbol('in hand')
const UPGRADE = Symbol('upgrade')

interface InHand {
  /** Requests without an answer; once the last one was taken it only grows. */
  count: number
  /** Those that are to be answered. */
  readonly responses: Set<ServerResponse>
}

type CountingSocket = Socket & { [IN_HAND]?: InHand }

/**
 * Counts a request that has just come in, and says whether it is to be answered.
 *
 * Node hands on every request of a chunk of 64 KiB before it looks whether the client reads the answers, so a client that reads nothing could
 * have some 1,700 of them in hand with one write. Here it has {@link MAX_UNANSWERED}: the answer to the last one says `Connection: close`, and
 * what was sent behind it is as if it had come on a closed connection (RFC 9112, 9.6).
 *
 * @returns false for a request behind the last one, which is to be left alone.
 */
export function isToBeAnswered(response: ServerResponse): boolean {
  const socket = response.req.socket as CountingSocket
  const inHand = socket[IN_HAND] ?? { count: 0, responses: new Set() }
  socket[IN_HAND] = inHand
  inHand.count += 1
  if (inHand.count > MAX_UNANSWERED) return false
  inHand.responses.add(response)
  if (inHand.count === MAX_UNANSWERED) response.shouldKeepAlive = false
  response.once('close', () => {
    inHand.responses.delete(response)
    if (inHand.count < MAX_UNANSWERED) inHand.count -= 1
  })
  return true
}

/** The request of a connection that is being answered: the first one without an answer. */
export function requestInHand(socket: CountingSocket): IncomingMessage | undefined {
  const [response] = socket[IN_HAND]?.responses ?? []
  return response?.req
}

/**
 * Resolves when all answers before this one are sent; undefined when there are none. What is read before its turn is held until then, and a client
 * that reads nothing would have that {@link MAX_UNANSWERED} times.
 */
export function turnOf(response: ServerResponse): Promise<void> | undefined {
  const { responses } = (response.req.socket as CountingSocket)[IN_HAND] ?? {}
  let before: ServerResponse | undefined
  for (const other of responses ?? []) {
    if (other === response) break
    before = other
  }
  if (before === undefined || responses?.has(response) !== true) return undefined
  const last = before
  return new Promise((resolve) => {
    last.once('close', resolve)
    response.once('close', resolve)
  })
}

/** True for a request on a connection that is to be cut off. */
export function isInFlood({ socket }: IncomingMessage): boolean {
  return ((socket as CountingSocket)[IN_HAND]?.count ?? 0) >= FLOOD
}

/** Cuts a connection off, and ends whatever is being answered on it. */
export function cutOff(socket: CountingSocket): void {
  socket.destroy()
  for (const response of socket[IN_HAND]?.responses ?? []) {
    response.req.destroy()
    response.destroy()
  }
}

/**
 * A request of a server that counts. On a connection that is to be cut off it looks like an upgrade, since that is the one thing at which Node
 * stops parsing a chunk. Each request behind it would cost a few microseconds and kilobytes, and a chunk has many.
 */
export class CountedRequest extends IncomingMessage {
  [UPGRADE]: boolean | null = null

  get upgrade(): boolean | null {
    return isInFlood(this) || this[UPGRADE]
  }

  set upgrade(value: boolean | null) {
    this[UPGRADE] = value
  }
}
