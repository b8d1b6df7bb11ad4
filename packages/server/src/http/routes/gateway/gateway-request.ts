import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { BlockSource } from '../../../retrieval/block-source.ts'
import type { Query } from '../../query.ts'
import type { Service } from '../../service.ts'
import type { GatewayTarget } from './gateway-target.ts'
import type { AskedFormat } from './response-format.ts'

/** A request for blocks, as far as it is read alike for both forms. */
export interface GatewayRequest {
  readonly service: Service
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Where blocks come from; closed by whoever opened it. */
  readonly source: BlockSource
  readonly target: GatewayTarget
  readonly asked: AskedFormat
  readonly query: Query
  /** What is to be in any answer. */
  readonly headers: OutgoingHttpHeaders
}

/** True when the client wants what is here at once or nothing (RFC 9111 section 5.2.1.7), which is how it probes gateways. */
export function isOnlyIfCached(request: IncomingMessage): boolean {
  const directives = request.headers['cache-control']?.toLowerCase().split(',') ?? []
  return directives.some((directive) => directive.trim() === 'only-if-cached')
}
