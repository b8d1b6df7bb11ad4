import type { Socket } from 'node:net'

/** Bytes of a connection, with the heads of requests and responses. */
export interface Traffic {
  readonly bytesIn: number
  readonly bytesOut: number
}

/** Where a connection carries what has been taken of its traffic. */
const TAKEN = Symbol('taken')

type CountedSocket = Socket & { [TAKEN]?: { bytesIn: number; bytesOut: number } }

/**
 * What a connection has received and sent since the last time that it was asked. Of requests that come one after the other, each has its
 * own; of those that a client sends before it has the response to the first, the sum is right.
 */
export function takeTraffic(socket: CountedSocket): Traffic {
  const taken = socket[TAKEN] ?? { bytesIn: 0, bytesOut: 0 }
  socket[TAKEN] = taken
  const { bytesRead, bytesWritten = 0 } = socket
  const traffic = { bytesIn: bytesRead - taken.bytesIn, bytesOut: bytesWritten - taken.bytesOut }
  taken.bytesIn = bytesRead
  taken.bytesOut = bytesWritten
  return traffic
}
