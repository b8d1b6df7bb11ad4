import { createServer, type IncomingMessage, type RequestListener } from 'node:http'

/** Serves on a free port of the loopback, prints the address, and ends at once on SIGTERM. */
export function serveOnLoopback(listener: RequestListener): void {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address === null || typeof address === 'string') throw new TypeError('a TCP server has a port')
    console.log(`http://127.0.0.1:${address.port}`)
  })
  process.once('SIGTERM', () => process.exit(0))
}

/**
 * Serves each request with what `answer` gives. A request that fails ends the process: a baseline that fails must not
 * be taken for a slow one.
 */
export function serveBare(answer: (request: IncomingMessage) => Promise<string>): void {
  serveOnLoopback((request, response) => {
    answer(request).then(
      (body) => response.end(body),
      (error) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
}
