import { once } from 'node:events'
import { createServer, type IncomingMessage, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A request with a JSON body that the provider accepted. */
export interface AcceptedRequest {
  readonly method: string
  readonly path: string
  readonly body: string
  /** Of the answer. */
  readonly location: string | undefined
}

export interface RecordingRelay {
  readonly url: string
  /** Accepted requests with a JSON body, the first first. */
  readonly accepted: readonly AcceptedRequest[]
}

/** Stands between clients and a provider, passes everything on unchanged, and ends with the test. */
export async function startRecordingRelay(providerUrl: string): Promise<RecordingRelay> {
  const accepted: AcceptedRequest[] = []
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url: path = '/', headers } = incoming
    const sent = sendRequest(new URL(path, providerUrl), { method, headers })
    const body = headers['content-type'] === 'application/json' ? text(incoming) : undefined
    const pass = async (answer: IncomingMessage) => {
      const { statusCode = 502, headers: answered } = answer
      if (body !== undefined && statusCode < 300) {
        accepted.push({ method, path, body: await body, location: answered.location })
      }
      outgoing.writeHead(statusCode, answered)
      answer.pipe(outgoing)
    }
    sent.on('response', (answer) => void pass(answer))
    sent.on('error', () => outgoing.destroy())
    outgoing.on('close', () => void sent.destroy())
    incoming.pipe(sent)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, accepted }
}
