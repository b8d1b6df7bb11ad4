import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { LadeError } from '@lade/core/errors'
import type { FoundBlock } from '../../../retrieval/block-source.ts'
import { servedFile } from '../../../retrieval/served-file.ts'
import { checkToken } from '../../authenticate.ts'
import { CONTENT_GUARD, cachingOf } from '../../file-headers.ts'
import { pathOf, type Query } from '../../query.ts'
import type { Service } from '../../service.ts'
import { answerGateway, refuseBlockedTarget } from '../gateway/answer-gateway.ts'
import { GATEWAY_CORS } from '../gateway/gateway-cors.ts'
import type { GatewayPrefix } from '../gateway/gateway-request.ts'
import { type GatewayTarget, readTarget } from '../gateway/gateway-target.ts'
import { publicCachingOf } from '../gateway/public-caching.ts'
import { type AskedFormat, askedFormat } from '../gateway/response-format.ts'
import { refuseServiceWorker } from './refuse-service-worker.ts'
import { type VisibleFile, visibleFile } from './visible-file.ts'

const PREFIX = '/p/'
const AS_CAR: AskedFormat = { format: 'car', carParameters: new Map(), isOptional: false, isForBrowser: false }

/** A request for something in a file that was found. */
export interface FolderRequest {
  readonly query: Query
  readonly headers: OutgoingHttpHeaders
  readonly target: GatewayTarget
  readonly asked: AskedFormat
  readonly found: VisibleFile
  /** @default '/p/' */
  readonly prefix?: GatewayPrefix
}

export interface FilePathInput {
  readonly query: Query
  readonly headers: OutgoingHttpHeaders
  /** What the address begins with; the cid follows. @default '/p/' */
  readonly prefix?: GatewayPrefix
}

/**
 * `GET|HEAD /p/{cid}/[{path}]`: what is in a folder that was uploaded, as the path gateway gives it, to whoever may read the file at
 * `/p/{cid}`.
 *
 * What is below a private root is looked for in that upload alone.
 *
 * @throws {LadeError} every refusal; the caller answers it.
 */
export async function getFilePath(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  { query, headers, prefix = PREFIX }: FilePathInput,
): Promise<void> {
  Object.assign(headers, CONTENT_GUARD, GATEWAY_CORS, { vary: 'Accept' })
  refuseServiceWorker(request)
  const target = readTarget(pathOf(request.url ?? '/'), prefix)
  const { blobs } = service
  if (blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
  await checkToken(service, request, query)
  const asked = askedFormat(query, request.headers.accept)
  const found = await visibleFile(service, request, target.id, query, { isWhole: false })
  await answerFromFolder(service, request, response, { query, headers, target, asked, found, prefix })
}

/**
 * Answers with what is in a file that the caller may see, as the path gateway does.
 *
 * @throws {LadeError} every refusal; the caller answers it.
 */
async function answerFromFolder(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  { query, headers, target, asked, found, prefix = PREFIX }: FolderRequest,
): Promise<void> {
  const { config, filesNow } = service
  refuseBlockedTarget(service, target)
  const { file, isOwn } = found
  const isForAll = file.visibility === 'public' && !isOwn
  if (!isForAll) headers.vary = 'Accept, Authorization'
  const only = file.visibility === 'public' ? {} : { within: file.object, hasMembers: file.folder !== undefined }
  const ownCaching = (): string => {
    const rules = { maxSeconds: config.retrieval.cacheSeconds, now: filesNow(), isOwn }
    return cachingOf({ ...servedFile(target.id, found), isSettled: true }, rules)['cache-control'] ?? 'no-store'
  }
  const cachingFor = async (blocks: readonly FoundBlock[]) =>
    isForAll ? publicCachingOf(service, blocks) : ownCaching()
  await answerGateway(
    { service, request, response, target, asked, query, headers, cachingOf: cachingFor, prefix, gateway: '' },
    only,
  )
}

/**
 * Answers with the CAR of a folder whose files are stored for themselves: its blocks are put together as they are read.
 *
 * @throws {LadeError} every refusal; the caller answers it.
 */
export async function answerFolderCar(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  { query, headers, found }: Pick<FolderRequest, 'query' | 'headers' | 'found'>,
): Promise<void> {
  Object.assign(headers, GATEWAY_CORS)
  const target = readTarget(pathOf(request.url ?? '/'), PREFIX)
  await answerFromFolder(service, request, response, { query, headers, target, asked: AS_CAR, found })
}

/** True for a folder that has blocks outside of its own object. */
export function isPutTogether({ file, view }: VisibleFile): boolean {
  return view === 'car' && file.folder !== undefined && file.folder.memberBytes > 0
}
