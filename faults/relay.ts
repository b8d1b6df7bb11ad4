import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** An upload as it passed the relay. */
export interface RelayedUpload {
  readonly cid: string
  /** Bytes of its body that passed. */
  sentBytes: number
  /** How it was answered; undefined while it is under way, and for good when its connection broke. */
  status: number | undefined
}

/** A stretch of road between a client and a service that may go away and come back elsewhere. */
export interface Relay {
  readonly url: URL
  /** Every request to `/api/upload` that has come, in order. */
  readonly uploads: readonly RelayedUpload[]
  /** Where requests go from now on. */
  target: URL
}

/**
 * Passes requests on and keeps a list of the uploads among them. While the service is away connections are reset, as they
 * would be without the relay. Ends with the running test.
 */
export async function startRelay(target: URL): Promise<Relay> {
  const uploads: RelayedUpload[] = []
  const relay = { url: target, uploads, target }
  const server = http.createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', relay.url)
    const upload: RelayedUpload = { cid: searchParams.get('cid') ?? '', sentBytes: 0, status: undefined }
    if (request.method === 'POST' && pathname === '/api/upload') uploads.push(upload)
    const { hostname, port } = relay.target
    const { method, url: path, headers } = request
    const onward = http.request({ hostname, port, method, path, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
      answer.on('error', () => response.destroy())
      answer.on('end', () => {
        upload.status = answer.statusCode
      })
    })
    request.on('data', (chunk: Buffer) => {
      upload.sentBytes += chunk.length
    })
    request.pipe(onward)
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
  })
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  relay.url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return relay
}
