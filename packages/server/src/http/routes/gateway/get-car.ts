import { MAX_BLOCK_BYTES } from '@lade/core/content'
import { DagReadError } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { CAR_MEDIA_TYPE } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { findRoot } from '../../../gateway/find-root.ts'
import { openCar } from '../../../gateway/open-car.ts'
import { readRefusal } from '../../../gateway/read-refusal.ts'
import { exchangeOf, requestIdOf } from '../../exchange.ts'
import { isNotModified } from '../../preconditions.ts'
import { sendChunks } from '../../send-body.ts'
import { type CarOptions, readCarOptions } from './car-options.ts'
import { gatewayHeaders, sendNotModified } from './gateway-headers.ts'
import { type GatewayRequest, isOnlyIfCached, withReader } from './gateway-request.ts'
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
  const options = readCarOptions(query, asked.asked.carParameters)
  const onlyIfCached = isOnlyIfCached(request)
  const root = await findRoot(service.records, source, { ...target, now: service.now(), onlyIfCached })
  if (root.sizeBytes > MAX_BLOCK_BYTES) {
    const reason = `The cid names one block of ${root.sizeBytes} bytes; a block in a CAR has at most ${MAX_BLOCK_BYTES}. Use format=raw.`
    throw new LadeError('not_acceptable', { reason })
  }
  const etag = carTag(target, options)
  const caching = await asked.cachingOf([root])
  if (isNotModified(request, { etag })) return sendNotModified(asked, etag, caching)

  const head = {
    ...requestIdOf(request),
    ...gatewayHeaders(asked, { contentType: carMediaType(options), etag, caching, name: `${target.id.text}.car` }),
    'accept-ranges': 'none',
    ...asked.headers,
  }
  await withReader(asked, {}, async (reader) => {
    try {
      const input = { root: target.cid, segments: target.segments, ...options }
      const chunks = await openCar(reader, input).catch((error: unknown) => {
        throw readRefusal(error)
      })
      response.writeHead(200, head)
      if (request.method === 'HEAD') response.end()
      else await sendChunks(response, chunks)
    } catch (error) {
      if (!response.headersSent || !isEndOfWalk(error)) throw error
      // The client has been told, by the cut; this is for the log.
      exchangeOf(request).notes.stoppedAt = error.message
    }
  })
}

/** True when a walk ends because of what the DAG is, or what it has cost. */
function isEndOfWalk(error: unknown): error is Error {
  if (error instanceof DagReadError) return true
  return (['not_acceptable', 'over_budget', 'blocked'] as const).some((code) => LadeError.has(error, code))
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
