import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { requestIdOf } from '../../exchange.ts'

/** What is answered to, and the fields that every answer to it has. */
export interface Answered {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly headers: OutgoingHttpHeaders
}

/** Answers by a status and fields alone, without a body. */
export function sendFields({ request, response, headers }: Answered, status: number, more: OutgoingHttpHeaders): void {
  response.writeHead(status, {
    ...requestIdOf(request),
    ...headers,
    ...more,
    ...(status === 204 ? {} : { 'content-length': '0' }),
  })
  response.end()
}
