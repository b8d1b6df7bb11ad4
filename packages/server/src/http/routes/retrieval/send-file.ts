import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { ContentId } from '@lade/core/content'
import { openContent } from '../../../retrieval/file-content.ts'
import type { FileContent } from '../../../retrieval/open-bytes.ts'
import { type ServedFile, servedFile } from '../../../retrieval/served-file.ts'
import { askedRange, lengthHeaders } from '../../byte-range.ts'
import { cutWhenBlocked } from '../../cut-when-blocked.ts'
import { requestIdOf } from '../../exchange.ts'
import {
  type CachingRules,
  cacheTimeOf,
  cachingOf,
  contentHostOf,
  fileHeaders,
  validatorsOf,
} from '../../file-headers.ts'
import { isNotModified } from '../../preconditions.ts'
import type { Query } from '../../query.ts'
import { requestPrincipal } from '../../request-principal.ts'
import type { ResponseCache } from '../../response-cache.ts'
import { sendObject } from '../../send-body.ts'
import type { Service } from '../../service.ts'
import type { Offload } from './offload.ts'
import { sendOffloaded } from './send-offloaded.ts'
import type { VisibleFile } from './visible-file.ts'

/** A request for the bytes of a file, with what the response depends on. */
export interface FileRequest {
  readonly cid: ContentId
  readonly query: Query
  /** What is to be in any answer. */
  readonly headers: OutgoingHttpHeaders
  readonly responseCache: ResponseCache | undefined
  readonly offload: Offload
  /** The records' generation before the file was looked up. */
  readonly generation: number
}

/**
 * Answers a file that was found: whole, in part, as not modified, by its head alone, or by whoever is to send it.
 *
 * @throws {LadeError} `precondition_failed`, `range_not_satisfiable`, `invalid_filename`, `storage_offline`, `storage_failed`, `over_budget`.
 */
export async function sendFile(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  found: VisibleFile,
  asked: FileRequest,
): Promise<void> {
  const { cid, query, headers } = asked
  const served = servedFile(cid, found)
  const contentHost = contentHostOf(service.config)
  const isOwnOrigin = contentHost !== undefined && request.headers.host === contentHost
  const caching = cachingRulesOf(service, found)
  const head = fileHeaders(served, {
    cid: cid.text,
    filename: query.get('filename'),
    isDownload: query.get('download') === 'true',
    isOwnOrigin,
    caching,
  })
  // From here on it is known what is opened. A browser also takes the policy of a 304 for that of the page.
  headers['content-security-policy'] = head['content-security-policy']
  const validators = validatorsOf(cid.text, served)
  if (isNotModified(request, { ...validators, modifiedAt: found.file.uploadedAt })) {
    response.writeHead(304, { ...requestIdOf(request), ...validators, ...cachingOf(served, caching), ...headers })
    response.end()
    return
  }
  const content = await openContent(service, cid, found, requestPrincipal(service, request))
  // Where retrieval has an origin of its own, the cache answers for that origin.
  const isCacheable = isOwnOrigin === (contentHost !== undefined)
  try {
    await sendContent(service, request, response, {
      ...asked,
      served,
      validators,
      caching,
      content,
      fileHeaders: head,
      isCacheable,
    })
  } finally {
    await content.close()
  }
}

async function sendContent(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  asked: FileRequest & {
    readonly served: ServedFile
    readonly validators: ReturnType<typeof validatorsOf>
    readonly caching: CachingRules
    readonly content: FileContent
    readonly fileHeaders: Readonly<Record<string, string>>
    readonly isCacheable: boolean
  },
): Promise<void> {
  const { query, served, validators, caching, content, fileHeaders: headers } = asked
  const { sizeBytes } = content
  const range = askedRange(request, validators, sizeBytes)
  // What the request brings comes last: a token in the query must not be cached along with the file.
  const head = { ...requestIdOf(request), ...headers, ...lengthHeaders(sizeBytes, range), ...asked.headers }
  const status = range === undefined ? 200 : 206
  if (request.method === 'HEAD') {
    await content.check()
    response.writeHead(status, head)
    response.end()
    return
  }
  const offloaded = { ...asked, etag: validators.etag, range }
  const isOffloaded = await sendOffloaded(service, request, response, offloaded)
  if (isOffloaded) return

  const object = await content.open()
  await cutWhenBlocked(service, response, served.file.object, () =>
    sendObject(response, object, { begin: () => response.writeHead(status, head), range }),
  )
  // Content inside a CAR is a blob, too, and must not be kept: a later file of the same bytes is found first, and does not change the generation.
  if (object.kind === 'blob') return
  const { file } = served
  const isForAll = file.visibility === 'public' && caching.isOwn !== true
  const isPlain = range === undefined && query.size === 0 && isForAll
  if (isPlain && asked.isCacheable && request.url !== undefined) {
    const { 'cache-control': _, ...kept } = { ...headers, ...lengthHeaders(sizeBytes, undefined) }
    asked.responseCache?.keep(request.url, {
      headers: kept,
      bytes: object.bytes,
      expiresAt: file.expiresAt,
      maxSeconds: cacheTimeOf(served, caching).maxSeconds,
      generation: asked.generation,
    })
  }
}

function cachingRulesOf({ config, filesNow }: Service, { isOwn }: VisibleFile): CachingRules {
  return { maxSeconds: config.retrieval.cacheSeconds, now: filesNow(), isOwn }
}
