import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { ClientMessages, CommitWatch } from '../../../../../../services/postgres-messages.ts'

/** A stretch of road to a database on which single connections stand still for good, while new ones get through. */
export interface FreezingRelay {
  readonly port: number
  /** From now on nothing passes in this direction on the connections that are open now, and neither side is told. */
  freeze(direction: 'to server' | 'to client'): void
  /** Passes the next COMMIT that anybody sends, and nothing more to the server on that connection. */
  freezeAfterCommit(): void
  /** Ends it, and all connections. */
  discard(): Promise<void>
}

/** Starts a relay to `port` of loopback. */
export async function startFreezingRelay(port: number): Promise<FreezingRelay> {
  const pairs = new Set<{ readonly near: Socket; readonly far: Socket; frozen: Set<string> }>()
  let commitsToFreeze = 0
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    const pair = { near, far, frozen: new Set<string>() }
    pairs.add(pair)
    const messages = new ClientMessages()
    const watch = new CommitWatch()
    near.on('data', (chunk: Buffer) => {
      for (const message of messages.push(chunk)) {
        if (pair.frozen.has('to server')) return
        far.write(message.bytes)
        if (!watch.isCommit(message) || commitsToFreeze === 0) continue
        commitsToFreeze -= 1
        pair.frozen.add('to server')
      }
    })
    far.on('data', (chunk) => pair.frozen.has('to client') || near.write(chunk))
    for (const [socket, other, direction] of [
      [near, far, 'to server'],
      [far, near, 'to client'],
    ] as const) {
      socket.setNoDelay(true)
      // A broken connection closes, which is what matters.
      socket.on('error', () => {})
      socket.on('close', () => {
        // The other side of one that stands still does not hear of this end either.
        if (!pair.frozen.has(direction)) other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    freeze(direction) {
      for (const { frozen } of pairs) frozen.add(direction)
    },
    freezeAfterCommit() {
      commitsToFreeze += 1
    },
    async discard() {
      for (const { near, far } of pairs) {
        near.destroy()
        far.destroy()
      }
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
