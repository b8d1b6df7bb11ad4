import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many requests a connection may have without an answer; the answer to the last of them ends it. */
export const MAX_UNANSWERED = 16
/** Who sends this many more behind them, unasked, is cut off at once. */
const MAX_IGNORED = 64

/** Where a connection carries the number of its requests without an answer. */
const UNANSWERED = Symbol('unanswered')

type CountingSocket = Socket & { [UNANSWERED]?: number }

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
  const unanswered = (socket[UNANSWERED] ?? 0) + 1
  socket[UNANSWERED] = unanswered
  if (unanswered > MAX_UNANSWERED) {
    if (unanswered > MAX_UNANSWERED + MAX_IGNORED) socket.destroy()
    return false
  }
  if (unanswered === MAX_UNANSWERED) response.shouldKeepAlive = false
  else response.once('close', () => countAnswered(socket))
  return true
}

/** Once the last one was taken, nothing counts any more. */
function countAnswered(socket: CountingSocket): void {
  const unanswered = socket[UNANSWERED] ?? 0
  if (unanswered < MAX_UNANSWERED) socket[UNANSWERED] = unanswered - 1
}
