import { HEADER, parseFileName } from '@lade/core/wire'
import type { FoundBlock } from '../../../retrieval/block-source.ts'
import { requestIdOf } from '../../exchange.ts'
import { publicCaching } from '../../file-headers.ts'
import { CAR_PARAMETERS } from './car-options.ts'
import type { GatewayRequest } from './gateway-request.ts'

const EXTENSIONS = { raw: 'bin', car: 'car' } as const

/**
 * The headers of a block or a CAR, for GET and HEAD alike.
 *
 * @throws {LadeError} `invalid_filename` for a `?filename=` that could not be given back safely.
 * @see https://specs.ipfs.tech/http-gateways/trustless-gateway/#response-headers
 */
export function gatewayHeaders(
  request: GatewayRequest,
  { contentType, etag, caching }: { readonly contentType: string; readonly etag: string; readonly caching: string },
): Record<string, string> {
  const { target, query, asked } = request
  const filename = query.get('filename')
  const name = filename === undefined ? undefined : parseFileName(encodeURIComponent(filename))
  const location = contentLocation(request)
  return {
    'cache-control': caching,
    'content-type': contentType,
    'content-disposition': attachment(name ?? `${target.id.text}.${EXTENSIONS[asked.format]}`),
    etag,
    [HEADER.ipfsPath]: target.path,
    // What a path goes through is not told apart from the shards of its directories, and is left out.
    ...(target.segments.length === 0 ? { [HEADER.ipfsRoots]: target.id.text } : {}),
    ...(location === undefined ? {} : { 'content-location': location }),
  }
}

export function sendNotModified(asked: GatewayRequest, etag: string, caching: string): void {
  const { request, response, headers } = asked
  response.writeHead(304, { ...requestIdOf(request), etag, 'cache-control': caching, ...headers })
  response.end()
}

/** What caches may do with blocks below this one: the file that it was found in says until when. */
export async function cachingOf({ service }: GatewayRequest, { place }: FoundBlock): Promise<string> {
  const { records, config, filesNow } = service
  const now = filesNow()
  const { cacheSeconds: maxSeconds } = config.retrieval
  if (place.kind === 'identity') return publicCaching({ maxSeconds, now })
  // A file that ended since is not to be kept at all.
  const expiresAt = (await records.files.publicUntil({ object: place.object, now })) ?? now
  return publicCaching({ maxSeconds, expiresAt, now })
}

/**
 * The address that gives the same answer whatever `Accept` says; undefined when that is the one that was asked for. Caches
 * that look at nothing but addresses go by it.
 */
function contentLocation({ target, query, asked }: GatewayRequest): string | undefined {
  const parameters = new URLSearchParams([...query].filter(([name]) => name !== 'token'))
  const given = parameters.toString()
  parameters.set('format', asked.format)
  if (asked.format === 'car') {
    for (const name of CAR_PARAMETERS.keys()) {
      const value = query.get(`car-${name}`) ?? asked.carParameters.get(name)
      if (value !== undefined) parameters.set(`car-${name}`, value)
    }
  }
  return parameters.toString() === given ? undefined : `${target.path}?${parameters}`
}

/** RFC 6266, always with the quotes that clients of gateways look for; names that are not ASCII stand there twice. */
function attachment(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]/gu, '_').replace(/["\\]/g, '\\$&')
  const isPlain = /^[\x20-\x7e]*$/.test(name) && !name.includes('%')
  const extended = encodeURIComponent(name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${ascii}"${isPlain ? '' : `; filename*=UTF-8''${extended}`}`
}
