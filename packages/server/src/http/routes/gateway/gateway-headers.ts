import { HEADER, parseFileName } from '@lade/core/wire'
import type { CID } from 'multiformats/cid'
import { requestIdOf } from '../../exchange.ts'
import type { Query } from '../../query.ts'
import { CAR_PARAMETERS } from './car-options.ts'
import { addressAt, type GatewayRequest } from './gateway-request.ts'
import type { GatewayTarget } from './gateway-target.ts'

/** Of longer paths, which nobody has, the header would be longer than clients read. */
const MAX_NAMED = 100

/** What the headers of an answer say besides what the request says already. */
export interface GatewayHeaderFields {
  readonly contentType: string
  readonly etag: string
  /** Undefined for pages that are made anew each time, of which caches are told nothing. */
  readonly caching?: string | undefined
  /** The name to save it under, where the request gives none. */
  readonly name?: string | undefined
  /** @default 'attachment' */
  readonly disposition?: 'inline' | 'attachment' | 'none'
  /** What each name of the path leads to; where they are not known, only a path without names has any. */
  readonly roots?: readonly CID[]
  /** True where the format that was asked for was not given. */
  readonly isOfNoFormat?: boolean
}

/**
 * The headers of what a content path leads to, for GET and HEAD alike.
 *
 * @throws {LadeError} `invalid_filename` for a `?filename=` that could not be given back safely.
 * @see https://specs.ipfs.tech/http-gateways/path-gateway/#response-headers
 */
export function gatewayHeaders(request: GatewayRequest, fields: GatewayHeaderFields): Record<string, string> {
  const { contentType, etag, caching, disposition = 'attachment' } = fields
  const name = askedName(request.query) ?? fields.name
  const location = fields.isOfNoFormat === true ? undefined : contentLocation(request)
  return {
    ...(caching === undefined ? {} : { 'cache-control': caching }),
    'content-type': contentType,
    ...(disposition === 'none' ? {} : { 'content-disposition': contentDisposition(disposition, name) }),
    etag,
    ...pathHeaders(request.target, fields.roots),
    ...(location === undefined ? {} : { 'content-location': location }),
  }
}

/** The path that was asked for, and what its names lead to. */
export function pathHeaders(target: GatewayTarget, roots?: readonly CID[]): Record<string, string> {
  const { path, hasSlash, segments, id } = target
  // The root is written as it was asked for.
  const below = roots?.slice(1).map(String) ?? []
  const isKnown = segments.length <= MAX_NAMED && (roots !== undefined || segments.length === 0)
  return {
    [HEADER.ipfsPath]: hasSlash && roots !== undefined ? `${path}/` : path,
    // What a path goes through is not told apart from the shards of its directories, and is left out.
    ...(isKnown ? { [HEADER.ipfsRoots]: [id.text, ...below].join(',') } : {}),
  }
}

/** `?filename=`. @throws {LadeError} `invalid_filename`. */
export function askedName(query: Query): string | undefined {
  const filename = query.get('filename')
  return filename === undefined ? undefined : parseFileName(encodeURIComponent(filename))
}

export function sendNotModified(asked: GatewayRequest, etag: string, caching: string | undefined): void {
  const { request, response, headers } = asked
  const cacheControl = caching === undefined ? {} : { 'cache-control': caching }
  response.writeHead(304, { ...requestIdOf(request), etag, ...cacheControl, ...headers })
  response.end()
}

/**
 * The address that gives the same answer whatever `Accept` says; undefined when that is the one that was asked for. Caches
 * that look at nothing but addresses go by it.
 */
function contentLocation({ target, query, asked, prefix }: GatewayRequest): string | undefined {
  if (asked.format === undefined) return undefined
  const parameters = new URLSearchParams([...query].filter(([name]) => name !== 'token'))
  const given = parameters.toString()
  parameters.set('format', asked.format)
  if (asked.format === 'car') {
    for (const name of CAR_PARAMETERS.keys()) {
      const value = query.get(`car-${name}`) ?? asked.carParameters.get(name)
      if (value !== undefined) parameters.set(`car-${name}`, value)
    }
  }
  return parameters.toString() === given ? undefined : `${addressAt({ prefix }, target.path)}?${parameters}`
}

/** RFC 6266, always with the quotes that clients of gateways look for; names that are not ASCII stand there twice. */
function contentDisposition(kind: 'inline' | 'attachment', name: string | undefined): string {
  if (name === undefined) return kind
  const ascii = name.replace(/[^\x20-\x7e]/gu, '_').replace(/["\\]/g, '\\$&')
  const isPlain = /^[\x20-\x7e]*$/.test(name) && !name.includes('%')
  const extended = encodeURIComponent(name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)
  return `${kind}; filename="${ascii}"${isPlain ? '' : `; filename*=UTF-8''${extended}`}`
}
