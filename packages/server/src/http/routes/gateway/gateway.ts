import { CAR_MEDIA_TYPE, cidText, downloadNameField, RAW_BLOCK_MEDIA_TYPE } from '@lade/core/wire'
import * as z from 'zod'
import { blockedError } from '../../../moderation/content-block.ts'
import { BlockSource } from '../../../retrieval/block-source.ts'
import { checkToken } from '../../authenticate.ts'
import { CONTENT_GUARD } from '../../file-headers.ts'
import type { ResponseHeader } from '../../openapi/response-headers.ts'
import { pathOf } from '../../query.ts'
import type { Service } from '../../service.ts'
import { type RawHandler, rawRoute } from '../raw-route.ts'
import { refuseServiceWorker } from '../retrieval/refuse-service-worker.ts'
import { retrievalHeaders } from '../retrieval/retrieval.ts'
import { bytesOf, emptyResponse, problems, type Routes, security, takenOver } from '../routes.ts'
import { type GatewayTarget, readTarget } from './gateway-target.ts'
import { getBlock } from './get-block.ts'
import { getCar } from './get-car.ts'
import { askedFormat } from './response-format.ts'

const gatewayQuery = z.object({
  format: z
    .enum(['raw', 'car'])
    .describe('raw: one block; car: the blocks of a DAG. It can be left out if Accept names the media type'),
  filename: downloadNameField.optional(),
  'dag-scope': z.enum(['block', 'entity', 'all']).optional().describe('Which blocks of the DAG to return; default all'),
  'entity-bytes': z
    .string()
    .meta({ pattern: '^-?[0-9]{1,15}:(?:\\*|-?[0-9]{1,15})$' })
    .optional()
    .describe('from:to: the blocks for these bytes of a file; to can be *'),
  'car-version': z.enum(['1']).optional(),
  'car-order': z.enum(['dfs', 'unk']).optional().describe('The order is always dfs'),
  'car-dups': z.enum(['y', 'n']).optional().describe('y: repeat a block for every link to it'),
})

const GATEWAY_RESPONSE_HEADERS: readonly ResponseHeader[] = [
  'Accept-Ranges',
  'Cache-Control',
  'Content-Disposition',
  'ETag',
  'X-Ipfs-Path',
  'X-Ipfs-Roots',
]

export function gatewayHandler(service: Service): RawHandler {
  const { records, blobs, now, moderation } = service
  return async (request, response, { query, headers }) => {
    Object.assign(headers, CONTENT_GUARD, { vary: 'Accept' })
    refuseServiceWorker(request)
    const target = readTarget(pathOf(request.url ?? '/'))
    await checkToken(service, request, query)
    const asked = askedFormat(query, request.headers.accept, service.retrievalUrl(target.id.text))
    refuseBlockedTarget(service, target)
    const source = new BlockSource({ records, blobs, now, moderation })
    try {
      const answer = asked.format === 'raw' ? getBlock : getCar
      await answer({ service, request, response, source, target, asked, query, headers })
    } finally {
      await source.close()
    }
  }
}

/** @throws {LadeError} `blocked` for the root, or for a path below it that a denylist names. */
function refuseBlockedTarget({ moderation }: Service, { id, cid, segments }: GatewayTarget): void {
  const asked = { codecs: [cid.code], path: segments }
  if (moderation.content.ofId(id) ?? moderation.content.ofMultihash(cid.multihash.bytes, asked)) throw blockedError()
}

/** `/ipfs/{cid}`: the trustless gateway. */
export function gatewayRoutes(app: Routes, service: Service): void {
  const onRequest = rawRoute(service, gatewayHandler(service))
  const about = {
    tags: ['retrieval'],
    querystring: gatewayQuery,
    headers: retrievalHeaders,
    security: [{}, ...security],
    responseHeaders: {
      200: GATEWAY_RESPONSE_HEADERS,
      206: [...GATEWAY_RESPONSE_HEADERS, 'Content-Range'],
      304: ['ETag', 'Cache-Control'],
    } as const,
    response: {
      200: bytesOf('The block, or the CAR', RAW_BLOCK_MEDIA_TYPE, CAR_MEDIA_TYPE),
      206: bytesOf('The requested range of the block', RAW_BLOCK_MEDIA_TYPE),
      304: emptyResponse('If-None-Match matches'),
      ...problems(400, 401, 403, 404, 406, 410, 412, 416, 429, 451, 503),
    },
  }
  app.route({
    method: ['GET', 'HEAD'],
    url: '/ipfs/:cid',
    schema: {
      ...about,
      operationId: 'getBlocks',
      summary: 'Download blocks that the client verifies',
      description:
        'The IPFS trustless gateway, for public files. format=raw, or Accept: application/vnd.ipld.raw, returns the ' +
        'block; format=car, or Accept: application/vnd.ipld.car, the DAG under it.',
      params: z.object({ cid: cidText.describe('A CID of a block') }),
    },
    onRequest,
    handler: takenOver,
  })
  app.route({
    method: ['GET', 'HEAD'],
    url: '/ipfs/*',
    schema: { hide: true },
    onRequest,
    handler: takenOver,
  })
}
