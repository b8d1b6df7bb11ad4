import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A question as it passed. */
export interface RelayedQuestion {
  readonly method: string
  readonly params: readonly unknown[]
  readonly authorization: string | undefined
}

interface Answer {
  readonly status: number
  readonly body: string
}

/** What the relay answers by itself; undefined asks the node. */
export type OwnAnswer = (question: RelayedQuestion) => Answer | undefined | Promise<Answer | undefined>

/** Stands between a driver and a node: notes what is asked, is cut off on demand, and answers for the node on demand. */
export interface Relay {
  readonly url: string
  readonly asked: RelayedQuestion[]
  setOnline(isOnline: boolean): void
  answerBy(own: OwnAnswer): void
  close(): Promise<void>
}

/** @param nodeUrl - the node behind it; absent when the relay answers everything by itself. */
export async function openRelay(nodeUrl?: string): Promise<Relay> {
  const asked: RelayedQuestion[] = []
  let isOnline = true
  let own: OwnAnswer = () => undefined
  // A node does not close a connection at the moment when the next question is sent through it.
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    if (!isOnline) {
      request.socket.destroy()
      return
    }
    const text = await bodyOf(request)
    const { method, params } = JSON.parse(text)
    const question = { method, params, authorization: request.headers.authorization }
    asked.push(question)
    const answer = (await own(question)) ?? (await askNode(nodeUrl, text))
    response.writeHead(answer.status, { 'content-type': 'application/json', location: nodeUrl ?? '/' }).end(answer.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    setOnline(value) {
      isOnline = value
    },
    answerBy(answers) {
      own = answers
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function askNode(nodeUrl: string | undefined, body: string): Promise<Answer> {
  if (nodeUrl === undefined) return { status: 503, body: '' }
  const answer = await fetch(nodeUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return { status: answer.status, body: await answer.text() }
}
