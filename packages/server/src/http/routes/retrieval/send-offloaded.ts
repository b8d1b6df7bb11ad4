import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { BlobLocation, ByteRange } from '../../../blobs/blob-store.ts'
import { mayRedirect } from '../../../retrieval/may-redirect.ts'
import type { FileContent } from '../../../retrieval/open-bytes.ts'
import type { ServedFile } from '../../../retrieval/served-file.ts'
import { requestIdOf } from '../../exchange.ts'
import { cacheSecondsOf, cacheTimeOf } from '../../file-headers.ts'
import { singleHeader } from '../../framing.ts'
import { PRECONDITIONS } from '../../preconditions.ts'
import type { Service } from '../../service.ts'
import type { Offload } from './offload.ts'

/** A file whose bytes the proxy in front of Lade sends. */
export interface OffloadedFile {
  readonly content: FileContent
  readonly served: ServedFile
  readonly etag: string
  /** The part that is asked for; undefined for all of it. */
  readonly range: ByteRange | undefined
  readonly offload: Offload
  /** The headers of the file. */
  readonly fileHeaders: Readonly<Record<string, string>>
  /** What is to be in any answer. */
  readonly headers: OutgoingHttpHeaders
}

/** With any of these the request is somebody's: some clients send them along, wherever they are redirected to. */
const CREDENTIALS = ['authorization', 'signature', 'signature-input']

/** A private name, since nginx would keep `Cache-Control` on the error with which a file that it cannot read is answered. */
const CARRIED_CACHE_CONTROL = 'x-lade-cache-control'

/**
 * Answers a GET of a file without its bytes, where somebody else is to send them: the proxy (200 with `X-Accel-Redirect`), or
 * the storage (307). Ranges are theirs to cut.
 *
 * @returns false when the bytes are to be read here, and nothing was answered.
 * @throws {LadeError} `storage_failed`.
 */
export async function sendOffloaded(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  asked: OffloadedFile,
): Promise<boolean> {
  // They hold, and somebody else would decide them again by another tag or another time.
  if (PRECONDITIONS.some((name) => request.headers[name] !== undefined)) return false
  const accelPrefix = mayAccelerate(request, asked) ? asked.offload.accelPrefixFor(request) : undefined
  const isRedirected = asked.offload.redirects && isRedirectable(request, asked)
  if (accelPrefix === undefined && !isRedirected) return false

  const location = await asked.content.locate?.({
    contentType: asked.served.contentType,
    contentDisposition: asked.fileHeaders['content-disposition'] ?? 'attachment',
    cacheControl: asked.fileHeaders['cache-control'] ?? 'no-store',
  })
  if (location?.kind === 'file' && accelPrefix !== undefined) {
    response.writeHead(200, accelHead(request, asked, `${accelPrefix}${location.path}`)).end()
    return true
  }
  if (location?.kind === 'url' && isRedirected) {
    response.writeHead(307, redirectHead(request, asked, location, service)).end()
    return true
  }
  return false
}

/** The proxy knows our tag, and reads `Range` as we do as long as it is a single one. */
function mayAccelerate(request: IncomingMessage, { range }: OffloadedFile): boolean {
  return range !== undefined || request.headers.range === undefined
}

/** True when the file may be redirected to, and the storage reads this request as we do. */
function isRedirectable(request: IncomingMessage, asked: OffloadedFile): boolean {
  const { served, etag, range, fileHeaders } = asked
  const hasCredentials = CREDENTIALS.some((name) => request.headers[name] !== undefined)
  const isSaved = fileHeaders['content-disposition']?.startsWith('attachment') === true
  if (!mayRedirect(served, { hasCredentials, isSaved })) return false
  // The store has a tag of its own, by which whoever was redirected before goes on.
  const ifRange = singleHeader(request, 'if-range')
  if (ifRange !== undefined) return ifRange.trim() !== etag
  return range !== undefined || request.headers.range === undefined
}

/** nginx says by itself how long the file is, and that it has ranges, but the latter on no part of it. */
function accelHead(request: IncomingMessage, asked: OffloadedFile, uri: string): OutgoingHttpHeaders {
  const all = { ...requestIdOf(request), ...asked.fileHeaders, ...asked.headers }
  const { 'accept-ranges': ranges, 'cache-control': caching, ...head } = all
  const isForEverybody = String(caching).startsWith('public')
  return {
    ...head,
    [isForEverybody ? CARRIED_CACHE_CONTROL : 'cache-control']: caching,
    ...(asked.range === undefined ? {} : { 'accept-ranges': ranges }),
    'content-length': 0,
    'x-accel-redirect': uri,
  }
}

/** No ETag: a cache that asked by it whether the redirect still holds would be told that the file does. */
function redirectHead(
  request: IncomingMessage,
  { served, headers }: OffloadedFile,
  { url, expiresAt }: Extract<BlobLocation, { kind: 'url' }>,
  { now, config }: Pick<Service, 'now' | 'config'>,
): OutgoingHttpHeaders {
  // The clock that a URL is signed by may differ from the agreed one.
  const urlMs = Math.min(expiresAt - now(), config.retrieval.redirectSeconds * 1000)
  return {
    ...requestIdOf(request),
    'cache-control': redirectCaching(served, { urlMs, maxSeconds: config.retrieval.cacheSeconds, now: now() }),
    ...headers,
    'content-length': 0,
    location: url,
  }
}

/** For half of the URL's time, so that whoever finds the redirect in a cache has the other half to begin. */
function redirectCaching(
  served: ServedFile,
  { urlMs, maxSeconds, now }: { readonly urlMs: number; readonly maxSeconds: number; readonly now: number },
): string {
  const fileSeconds = cacheSecondsOf(cacheTimeOf(served, { maxSeconds, now }))
  const seconds = Math.floor(Math.min(urlMs / 2000, fileSeconds))
  return seconds < 1 ? 'no-store' : `public, max-age=${seconds}`
}
