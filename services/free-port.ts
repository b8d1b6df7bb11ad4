import { createServer } from 'node:net'

/** Below the ports that Linux gives to outgoing connections, so that a service finds its port again after a restart. */
const LOWEST = 10_240
const HIGHEST = 32_000

/**
 * The first of `count` neighbouring ports of loopback on which nobody listens.
 *
 * It is free for now and not reserved: whoever wants it should take it at once.
 */
export async function freePort(count = 1): Promise<number> {
  for (;;) {
    const first = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST - count))
    const ports = Array.from({ length: count }, (_, index) => first + index)
    const areFree = await Promise.all(ports.map(isFree))
    if (areFree.every(Boolean)) return first
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
