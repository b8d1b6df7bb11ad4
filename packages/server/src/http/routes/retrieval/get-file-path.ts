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
import { readTarget } from '../gateway/gateway-target.ts'
import { publicCachingOf } from '../gateway/public-caching.ts'
import { askedFormat } from '../gateway/response-format.ts'
import { refuseServiceWorker } from './refuse-service-worker.ts'
import { visibleFile } from './visible-file.ts'

const PREFIX = '/p/'

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
  { query, headers }: { readonly query: Query; readonly headers: OutgoingHttpHeaders },
): Promise<void> {
  Object.assign(headers, CONTENT_GUARD, GATEWAY_CORS, { vary: 'Accept' })
  refuseServiceWorker(request)
  const target = readTarget(pathOf(request.url ?? '/'), PREFIX)
  const { blobs, config, filesNow } = service
  if (blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
  await checkToken(service, request, query)
  const asked = askedFormat(query, request.headers.accept)
  const found = await visibleFile(service, request, target.id, query, { isWhole: false })
  refuseBlockedTarget(service, target)
  const { file, isOwn } = found
  const isForAll = file.visibility === 'public' && !isOwn
  if (!isForAll) headers.vary = 'Accept, Authorization'
  const within = file.visibility === 'public' ? undefined : file.object
  const ownCaching = (): string => {
    const rules = { maxSeconds: config.retrieval.cacheSeconds, now: filesNow(), isOwn }
    return cachingOf({ ...servedFile(target.id, found), isSettled: true }, rules)['cache-control'] ?? 'no-store'
  }
  const cachingFor = async (blocks: readonly FoundBlock[]) =>
    isForAll ? publicCachingOf(service, blocks) : ownCaching()
  await answerGateway(
    { service, request, response, target, asked, query, headers, cachingOf: cachingFor, prefix: PREFIX, gateway: '' },
    within,
  )
}
