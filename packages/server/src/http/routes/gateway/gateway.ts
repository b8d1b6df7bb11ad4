import { LadeError } from '@lade/core/errors'
import {
  CAR_MEDIA_TYPE,
  cidText,
  downloadNameField,
  folderListing,
  folderListingQuery,
  RAW_BLOCK_MEDIA_TYPE,
} from '@lade/core/wire'
import * as z from 'zod'
import { longLabelRefusal } from '../../../gateway/long-label-refusal.ts'
import type { FoundBlock } from '../../../retrieval/block-source.ts'
import { checkToken } from '../../authenticate.ts'
import { CONTENT_GUARD } from '../../file-headers.ts'
import type { ResponseHeader } from '../../openapi/response-headers.ts'
import { asLadeError } from '../../problem.ts'
import { pathOf } from '../../query.ts'
import { sendProblem } from '../../respond.ts'
import { logFailure } from '../../server.ts'
import type { Service } from '../../service.ts'
import { siteHosts } from '../../site-hosts.ts'
import { type RawHandler, rawRoute } from '../raw-route.ts'
import { refuseServiceWorker } from '../retrieval/refuse-service-worker.ts'
import { retrievalHeaders } from '../retrieval/retrieval.ts'
import { bytesOf, emptyResponse, problems, type Routes, security, takenOver } from '../routes.ts'
import { siteProblem } from '../sites/site-problem.ts'
import { sendUriRedirect } from '../sites/to-site.ts'
import { answerGateway, refuseBlockedTarget } from './answer-gateway.ts'
import { GATEWAY_CORS } from './gateway-cors.ts'
import { readTarget } from './gateway-target.ts'
import { PAGE_OF_SERVICE_POLICY } from './html.ts'
import { publicCachingOf } from './public-caching.ts'
import { askedFormat, FORMAT_MEDIA_TYPES, type GatewayFormat } from './response-format.ts'

/** What the gateway reads in its query, at each of its doors. */
export const gatewayQuery = z.object({
  format: z
    .enum(Object.keys(FORMAT_MEDIA_TYPES) as GatewayFormat[])
    .optional()
    .describe(
      'raw: one block; car: the blocks of a DAG; tar: an archive. The default is the file, or the page of a folder',
    ),
  download: z.enum(['true', 'false']).optional().describe('true: download instead of showing in the browser'),
  ...folderListingQuery.shape,
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

const GATEWAY_HEADERS: readonly ResponseHeader[] = [
  'Accept-Ranges',
  'Cache-Control',
  'Content-Disposition',
  'ETag',
  'X-Ipfs-Path',
  'X-Ipfs-Roots',
]

export function gatewayHandler(service: Service): RawHandler {
  const sites = siteHosts(service.config)
  const handle = contentPathHandler(service)
  return async (request, response, context) => {
    try {
      await handle(request, response, context)
    } catch (error) {
      if (sites?.isRouter(request) !== true) throw error
      logFailure(service, request, error)
      const [, text = ''] = /^\/ipfs\/([^/?]*)/.exec(request.url ?? '') ?? []
      const problem = (LadeError.has(error, 'invalid_cid') && longLabelRefusal(text)) || asLadeError(error)
      const headers = { ...context.headers, 'content-security-policy': PAGE_OF_SERVICE_POLICY }
      sendProblem(request, response, problem, headers, siteProblem(request.url ?? '/'))
    }
  }
}

function contentPathHandler(service: Service): RawHandler {
  return async (request, response, { query, headers }) => {
    Object.assign(headers, CONTENT_GUARD, GATEWAY_CORS, { vary: 'Accept' })
    refuseServiceWorker(request)
    const uri = query.get('uri')
    if (uri !== undefined && pathOf(request.url ?? '/') === '/ipfs/')
      return sendUriRedirect(request, response, uri, headers)
    const target = readTarget(pathOf(request.url ?? '/'))
    await checkToken(service, request, query)
    const asked = askedFormat(query, request.headers.accept)
    refuseBlockedTarget(service, target)
    const cachingOf = (blocks: readonly FoundBlock[]) => publicCachingOf(service, blocks)
    await answerGateway({
      service,
      request,
      response,
      target,
      asked,
      query,
      headers,
      cachingOf,
      prefix: '/ipfs/',
      gateway: '',
    })
  }
}

/** What the gateway answers, for the documentation. */
export const GATEWAY_RESPONSE_HEADERS = {
  200: GATEWAY_HEADERS,
  206: [...GATEWAY_HEADERS, 'Content-Range'],
  301: ['Location'],
  304: ['ETag', 'Cache-Control'],
} as const satisfies Record<number, readonly ResponseHeader[]>

const TYPES = [RAW_BLOCK_MEDIA_TYPE, CAR_MEDIA_TYPE, FORMAT_MEDIA_TYPES.tar, '*/*']
const CONTENT = bytesOf('The file or page, the block, the CAR, the archive, or the list of the folder', ...TYPES)

/** The same. */
export const GATEWAY_RESPONSES = {
  200: { ...CONTENT, content: { ...CONTENT.content, 'application/json': { schema: folderListing } } },
  206: bytesOf('The requested range of the file or the block', RAW_BLOCK_MEDIA_TYPE, '*/*'),
  301: emptyResponse(
    'A folder: Location is its address with a slash at the end. With LADE_SITES_URL, in browsers: its address at a host of its own',
  ),
  304: emptyResponse('If-None-Match matches'),
  ...problems(400, 401, 403, 404, 406, 410, 412, 416, 429, 451, 501, 503),
}

/** `/ipfs/{cid}[/{path}]`: the gateway. */
export function gatewayRoutes(app: Routes, service: Service): void {
  const onRequest = rawRoute(service, gatewayHandler(service))
  const about = {
    tags: ['retrieval'],
    querystring: gatewayQuery,
    headers: retrievalHeaders,
    security: [{}, ...security],
    responseHeaders: GATEWAY_RESPONSE_HEADERS,
    response: GATEWAY_RESPONSES,
  }
  app.route({
    method: ['GET', 'HEAD'],
    url: '/ipfs/:cid',
    schema: {
      ...about,
      operationId: 'getBlocks',
      summary: 'Download content by its CID, or blocks that the client verifies',
      description:
        'The IPFS gateway, for public content. format=raw, or Accept: application/vnd.ipld.raw, returns the ' +
        'block; format=car, or Accept: application/vnd.ipld.car, the DAG under it. Without a format it returns the file, or redirects to the folder.',
      params: z.object({ cid: cidText.describe('A CID of a block') }),
    },
    onRequest,
    handler: takenOver,
  })
  app.route({
    method: ['GET', 'HEAD'],
    url: '/ipfs/:cid/*',
    schema: {
      ...about,
      operationId: 'getContentAtPath',
      summary: 'Download what a path in a folder leads to',
      description:
        'A file; index.html of a folder, else its list; with Accept: application/json the list as JSON. Formats as at /ipfs/{cid}.',
      params: z.object({
        cid: cidText.describe('The CID of a folder, or of a block of dag-cbor or dag-json'),
        path: z.string().describe('Names, each percent-encoded, with slashes between them'),
      }),
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
