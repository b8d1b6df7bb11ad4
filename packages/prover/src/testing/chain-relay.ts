import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

const PATIENCE_MS = 2000
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
    void (async () => {
      const asked = await text(request)
      const answer = await (await fetch(rpcUrl, { method: 'POST', body: asked, headers: JSON_BODY })).text()
      const exchange = withoutIds(asked + answer)
      isRepeating = exchange === last
      last = exchange
      response.writeHead(200, JSON_BODY).end(answer)
    })().catch(() => response.destroy())
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
      for (const end = performance.now() + PATIENCE_MS; !isRepeating && performance.now() < end; ) await delay(5)
    },
  }
}

/** Requests are numbered. */
function withoutIds(json: string): string {
  return json.replaceAll(/"id":\d+/g, '')
}
