import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { onRequestHookHandler } from 'fastify'
import { queryTokenHeaders } from '../authenticate.ts'
import { asLadeError } from '../problem.ts'
import { type Query, queryOf } from '../query.ts'
import { headersSet, sendProblem } from '../respond.ts'
import { logFailure } from '../server.ts'
import type { Service } from '../service.ts'
import { turnOf } from '../unanswered.ts'
import { signatureRequestHeaders } from '../wallet-request.ts'

/** A route that reads its body, and writes its answer, by itself. `headers` are to be in any answer, good or bad. */
export type RawHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: { readonly query: Query; readonly headers: OutgoingHttpHeaders },
) => Promise<void>

/** Runs a raw handler and answers what it throws. `headers` are to be in any answer. */
export async function answerRaw(
  service: Service,
  handle: RawHandler,
  request: IncomingMessage,
  response: ServerResponse,
  headers: OutgoingHttpHeaders,
): Promise<void> {
  try {
    const turn = request.method === 'GET' ? turnOf(response) : undefined
    if (turn !== undefined) {
      await turn
      if (response.destroyed) return
    }
    const query = queryOf(request.url ?? '/')
    if (query.has('token')) Object.assign(headers, queryTokenHeaders(query, `${service.publicUrl()}/docs`))
    await handle(request, response, { query, headers })
  } catch (error) {
    logFailure(service, request, error)
    const problem = asLadeError(error)
    const asked = signatureRequestHeaders(service, request, problem)
    sendProblem(request, response, problem, { ...headers, ...asked })
  }
}

/** Takes the request out of the framework's hands before it looks at the body. */
export function rawRoute(service: Service, handle: RawHandler): onRequestHookHandler {
  return async (request, reply) => {
    const headers = headersSet(reply)
    reply.hijack()
    await answerRaw(service, handle, request.raw, reply.raw, headers)
  }
}
