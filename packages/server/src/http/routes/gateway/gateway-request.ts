import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { BlockSource, FoundBlock } from '../../../retrieval/block-source.ts'
import { DagReader, type DagReaderDeps } from '../../../retrieval/dag-reader.ts'
import { closedSignal } from '../../closed-signal.ts'
import type { Query } from '../../query.ts'
import { requestPrincipal } from '../../request-principal.ts'
import type { Service } from '../../service.ts'
import type { GatewayTarget } from './gateway-target.ts'
import type { AskedFormat } from './response-format.ts'

/** A request for content by its path, as far as it is read alike for all forms. */
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
  /** What caches may do with an answer that is made of these blocks, of those below them, and of nothing else. */
  readonly cachingOf: (blocks: readonly FoundBlock[]) => Promise<string>
  /** The door that the request came by: what addresses begin with that lead to the same content. At the host of a site it is the root's own. */
  readonly prefix: GatewayPrefix
  /** Where other content paths are opened: `//` and a host, or nothing for this one. */
  readonly gateway: string
}

/** What addresses of content begin with. The root follows, but behind `/`, which is that root itself, on a host of its own. */
export type GatewayPrefix = '/ipfs/' | '/p/' | `/share/${string}/` | '/'

/** The address of a content path at the door that the request came by. */
export function addressAt({ prefix }: Pick<GatewayRequest, 'prefix'>, path: string): string {
  const [root = '', ...names] = path.slice('/ipfs/'.length).split('/')
  return prefix + (prefix === '/' ? names : [root, ...names]).join('/')
}

/** The same of a folder, which ends in a slash. */
export function folderAddressAt(door: Pick<GatewayRequest, 'prefix'>, path: string): string {
  return addressAt(door, path).replace(/\/?$/, '/')
}

/** True when the client wants what is here at once or nothing (RFC 9111 section 5.2.1.7), which is how it probes gateways. */
export function isOnlyIfCached(request: IncomingMessage): boolean {
  const directives = request.headers['cache-control']?.toLowerCase().split(',') ?? []
  return directives.some((directive) => directive.trim() === 'only-if-cached')
}

/**
 * Reads DAGs for a request, and settles in the end, which charges who asks. A client that has gone is no failure.
 *
 * @throws what `work` throws.
 */
export async function withReader(
  { service, request, response, source }: GatewayRequest,
  limits: Pick<DagReaderDeps, 'maxBlocks' | 'maxLinks' | 'isSent'>,
  work: (reader: DagReader) => Promise<void>,
): Promise<void> {
  const { budget, blockReadings: readings } = service
  const principal = requestPrincipal(service, request)
  budget.require(principal, 'links')
  const signal = closedSignal(response)
  const isSent = request.method !== 'HEAD'
  const reader = new DagReader({ source, readings, budget, principal, signal, isSent, ...limits })
  try {
    await work(reader)
  } catch (error) {
    // Nobody waits for an answer any more.
    if (!signal.aborted || error !== signal.reason) throw error
  } finally {
    reader.settle()
  }
}
