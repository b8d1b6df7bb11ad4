import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Stands before a service, on loopback, and gives back other bytes than those that were staged. */
export interface Liar extends AsyncDisposable {
  readonly url: string
}

/** Starts one before the service at `origin`. */
export async function startLiar(origin: URL): Promise<Liar> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = 'GET', url = '/' } = request
    const headers = { 'content-type': request.headers['content-type'] ?? '' }
    const body = Buffer.concat(chunks)
    const answer = await fetch(new URL(url, origin), method === 'GET' ? {} : { method, headers, body })
    const given = Buffer.from(await answer.arrayBuffer())
    if (url.startsWith('/p/')) given.writeUInt8(given.readUInt8(0) ^ 1, 0)
    const type = answer.headers.get('content-type') ?? ''
    response.writeHead(answer.status, { 'content-type': type, 'content-length': given.length }).end(given)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
