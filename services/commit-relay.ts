import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { ClientMessages, CommitWatch } from './postgres-messages.ts'

/**
 * When a connection is cut: with the COMMIT in hand and not passed on, so that nothing happened; or with the server's answer in
 * hand, so that it has happened and the client is not told.
 */
export type CommitCut = 'before' | 'after'

/** A stretch of road between a service and its PostgreSQL that can break at the worst moment. */
export interface CommitRelay {
  readonly port: number
  /** COMMITs that passed unharmed. */
  readonly passed: number
  /** Cuts the connection of the next COMMIT that anybody sends, and resolves when that has happened. */
  cutNext(cut: CommitCut): Promise<void>
  /** Ends it. */
  discard(): Promise<void>
}

interface Order {
  readonly cut: CommitCut
  readonly done: () => void
}

/** Starts a relay to a PostgreSQL at `port` of loopback, without TLS. */
export async function startCommitRelay(port: number): Promise<CommitRelay> {
  const orders: Order[] = []
  const open = new Set<Socket>()
  let passed = 0

  function relay(near: Socket): void {
    const far = connect(port, '127.0.0.1')
    const messages = new ClientMessages()
    const watch = new CommitWatch()
    let order: Order | undefined
    const cut = (): void => {
      near.resetAndDestroy()
      far.resetAndDestroy()
      order?.done()
      order = undefined
    }
    near.on('data', (chunk: Buffer) => {
      for (const message of messages.push(chunk)) {
        if (near.destroyed) return
        if (watch.isCommit(message) && order === undefined) {
          order = orders.shift()
          if (order === undefined) passed += 1
          if (order?.cut === 'before') {
            cut()
            return
          }
        }
        far.write(message.bytes)
      }
    })
    far.on('data', (chunk: Buffer) => {
      if (order !== undefined) cut()
      else near.write(chunk)
    })
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket)
      socket.setNoDelay(true)
      // A broken connection closes, and its other half with it.
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
        // Somebody else ended the connection between order and answer: the order is for the next one.
        if (order !== undefined) orders.unshift(order)
        order = undefined
      })
    }
  }

  const server = createServer(relay)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    get passed() {
      return passed
    },
    cutNext: (cut) => new Promise((done) => void orders.push({ cut, done })),
    async discard() {
      for (const socket of [...open]) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
