import { MAX_BLOCK_BYTES } from '@lade/core/content'
import { DagReadError } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { CAR_MEDIA_TYPE } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { findRoot } from '../../../gateway/find-root.ts'
import { openCar } from '../../../gateway/open-car.ts'
import { DagReader } from '../../../retrieval/dag-reader.ts'
import { closedSignal } from '../../closed-signal.ts'
import { exchangeOf, requestIdOf } from '../../exchange.ts'
import { isNotModified } from '../../preconditions.ts'
import { requestPrincipal } from '../../request-principal.ts'
import { sendChunks } from '../../send-body.ts'
import { type CarOptions, readCarOptions } from './car-options.ts'
import { cachingOf, gatewayHeaders, sendNotModified } from './gateway-headers.ts'
import { type GatewayRequest, isOnlyIfCached } from './gateway-request.ts'
import type { GatewayTarget } from './gateway-target.ts'

/**
 * `GET|HEAD /ipfs/{cid}[/{path}]?format=car`: blocks of a DAG, as a stream.
 *
 * When a block turns out to be missing on the way, or the walk has reached its limits, the connection is cut: an orderly end says that all
 * of it was there.
 *
 * @throws {LadeError} every refusal; the caller answers it.
 */
export async function getCar(asked: GatewayRequest): Promise<void> {
  const { service, request, response, source, target, query } = asked
  const { budget, blockReadings: readings } = service
  const principal = requestPrincipal(service, request)
  budget.require(principal, 'links')
  const options = readCarOptions(query, asked.asked.carParameters)
  const onlyIfCached = isOnlyIfCached(request)
  const root = await findRoot(service.records, source, { ...target, now: service.now(), onlyIfCached })
  if (root.sizeBytes > MAX_BLOCK_BYTES) {
    const reason = `The cid names one block of ${root.sizeBytes} bytes; a block in a CAR has at most ${MAX_BLOCK_BYTES}. Use format=raw.`
    throw new LadeError('not_acceptable', { reason })
  }
  const etag = carTag(target, options)
  const caching = await cachingOf(asked, root)
  if (isNotModified(request, { etag })) return sendNotModified(asked, etag, caching)

  const head = {
    ...requestIdOf(request),
    ...gatewayHeaders(asked, { contentType: carMediaType(options), etag, caching }),
    'accept-ranges': 'none',
    ...asked.headers,
  }
  const signal = closedSignal(response)
  const reader = new DagReader({
    source,
    readings,
    budget,
    principal,
    signal,
    isSent: request.method !== 'HEAD',
  })
  try {
    const chunks = await openCar(reader, { root: target.cid, segments: target.segments, ...options }).catch(refuse)
    response.writeHead(200, head)
    if (request.method === 'HEAD') response.end()
    else await sendChunks(response, chunks)
  } catch (error) {
    // Nobody waits for an answer any more.
    if (signal.aborted && error === signal.reason) return
    if (!response.headersSent || !isEndOfWalk(error)) throw error
    // The client has been told, by the cut; this is for the log.
    exchangeOf(request).notes.stoppedAt = error.message
  } finally {
    reader.settle()
  }
}

/** True when a walk ends because of what the DAG is, or what it has cost. */
function isEndOfWalk(error: unknown): error is Error {
  if (error instanceof DagReadError) return true
  return (['not_acceptable', 'over_budget', 'blocked'] as const).some((code) => LadeError.has(error, code))
}

/** What is known to be wrong before the first byte. */
function refuse(error: unknown): never {
  if (!(error instanceof DagReadError)) throw error
  if (error.fault === 'missing') throw new LadeError('not_found', {}, { cause: error })
  const reason = `${error.message} Use format=raw to get this block.`
  throw new LadeError('not_acceptable', { reason }, { cause: error })
}

function carMediaType({ dups }: CarOptions): string {
  return `${CAR_MEDIA_TYPE}; version=1; order=dfs; dups=${dups ? 'y' : 'n'}`
}

/** Weak, since other gateways lay out the same blocks in other ways. */
function carTag({ id, segments }: GatewayTarget, options: CarOptions): string {
  const { scope, entityBytes, dups } = options
  const variant = JSON.stringify([segments, scope, entityBytes?.from, entityBytes?.to, dups])
  return `W/"${id.text}.car.${sha256Hex(Buffer.from(variant)).slice(0, 16)}"`
}
