import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

const TIMEOUT_MS = 2000
const JSON_BODY = { 'content-type': 'application/json' }

/** Stands between one prover and its chain, and knows when the prover has done what it can about the newest block. */
export interface ChainRelay {
  /** Where the prover finds the chain. */
  readonly rpcUrl: string
  /** Waits until the prover, if there is one, does nothing any more but ask for the next block. */
  settled(): Promise<void>
}

/** Starts a relay that ends with the test. */
export async function startChainRelay(rpcUrl: string): Promise<ChainRelay> {
  let last = ''
  let isRepeating = false
  const server = createServer((request, response) => {
    void forwardTo(rpcUrl, request, response, (asked, answer) => {
      const exchange = withoutIds(asked + answer)
      isRepeating = exchange === last
      last = exchange
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })

  return {
    rpcUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async settled() {
      last = ''
      isRepeating = false
      // A prover that has ended, or does not trust the chain, asks nothing at all.
      for (const end = performance.now() + TIMEOUT_MS; !isRepeating && performance.now() < end; ) await delay(5)
    },
  }
}

/** Has a chain answer a request; a chain that does not answer is a connection that is cut. */
export async function forwardTo(
  rpcUrl: string,
  request: IncomingMessage,
  response: ServerResponse,
  onAnswer: (asked: string, answer: string) => void = () => {},
): Promise<void> {
  try {
    const asked = await text(request)
    const answer = await (await fetch(rpcUrl, { method: 'POST', body: asked, headers: JSON_BODY })).text()
    onAnswer(asked, answer)
    response.writeHead(200, JSON_BODY).end(answer)
  } catch {
    response.destroy()
  }
}

/** Requests are numbered. */
function withoutIds(json: string): string {
  return json.replaceAll(/"id":\d+/g, '')
}
