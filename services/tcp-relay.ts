import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A stretch of road to a service on loopback, which can be closed and opened. */
export interface TcpRelay {
  readonly port: number
  /** How many connections are open now. */
  readonly open: number
  /** From now on connections are refused, with a reset, and those that are open are cut. */
  close(): void
  /** From now on nothing passes any more in either direction, and nobody is told: packets seem to be lost. */
  swallow(): void
  /** From now on connections pass again. */
  reopen(): void
  /** Ends it. */
  discard(): Promise<void>
}

/** What happens to bytes: they pass, their connection is reset, or they are lost. */
type Mode = 'pass' | 'reset' | 'swallow'

/** Starts a relay to `port` of loopback. */
export async function startTcpRelay(port: number): Promise<TcpRelay> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let mode: Mode = 'pass'
  const server = createServer((near) => {
    if (mode === 'reset') {
      near.resetAndDestroy()
      return
    }
    const far = connect(port, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    passOn(near, far, () => mode)
    passOn(far, near, () => mode)
    const forget = (): void => {
      pairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    near.once('close', forget)
    far.once('close', forget)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const [near, far] of pairs) {
      near.resetAndDestroy()
      far.resetAndDestroy()
    }
    pairs.clear()
  }
  return {
    port: (server.address() as AddressInfo).port,
    get open() {
      return pairs.size
    },
    close() {
      mode = 'reset'
      cut()
    },
    swallow() {
      mode = 'swallow'
    },
    reopen() {
      // What was swallowed is gone, so its connections can never be right again.
      if (mode === 'swallow') cut()
      mode = 'pass'
    },
    async discard() {
      cut()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function passOn(from: Socket, to: Socket, mode: () => Mode): void {
  from.setNoDelay(true)
  from.on('data', (chunk: Buffer) => {
    if (mode() !== 'pass') return
    if (!to.write(chunk)) {
      from.pause()
      to.once('drain', () => from.resume())
    }
  })
  from.on('end', () => to.end())
  // A broken connection closes, and its other half with it.
  from.on('error', () => {})
}
