import { isActiveMediaType, parseFileName } from '@lade/core/wire'
import { create as contentDisposition } from 'content-disposition'
import type { FileRecord } from '../records/record-store.ts'

/** Half a year and more: bytes under a content id do not change (the value that gateways of the network use). */
const IMMUTABLE = 'max-age=29030400, immutable'

const EXPOSED = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'ETag',
  'Repr-Digest',
  'X-Request-Id',
].join(', ')

/** Headers of every answer under `/p/`, good or bad: nothing that an uploader wrote may run as a page of this origin. */
export const CONTENT_GUARD: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED,
}

export interface FileHeaderOptions {
  /** The cid of the path, as asked for. */
  readonly cid: string
  /** `?filename=`; checked like a name that is uploaded. */
  readonly filename?: string | undefined
  /** `?download=true`. */
  readonly isDownload?: boolean
  /** True when retrieval has an origin of its own, where pages may be pages. */
  readonly isOwnOrigin: boolean
}

/** The host that retrieval has for itself, as requests name it; undefined when it shares the API's. */
export function contentHostOf(config: { readonly contentUrl?: string }): string | undefined {
  return config.contentUrl === undefined ? undefined : new URL(config.contentUrl).host
}

/** The validator of a file: the cid it was asked for by, since the bytes under a cid are always the same. */
export function entityTagOf(cid: string): string {
  return `"${cid}"`
}

/**
 * The headers of a file, for 200, 206 and HEAD alike.
 *
 * @throws {LadeError} `invalid_filename` for a `?filename=` that could not be given back safely.
 */
export function fileHeaders(file: FileRecord, options: FileHeaderOptions): Record<string, string> {
  return {
    ...CONTENT_GUARD,
    'content-type': file.contentType,
    'content-disposition': dispositionOf(file, options),
    etag: entityTagOf(options.cid),
    'accept-ranges': 'bytes',
    'repr-digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
    ...cachingOf(file),
  }
}

/** What a cache may do with the file, also said on 304. A private file is asked for again each time. */
export function cachingOf(file: FileRecord): Record<string, string> {
  if (file.visibility === 'public') return { 'cache-control': `public, ${IMMUTABLE}` }
  return { 'cache-control': 'private, no-cache', vary: 'Authorization' }
}

function dispositionOf(file: FileRecord, options: FileHeaderOptions): string {
  const { filename, isDownload = false, isOwnOrigin } = options
  const name = filename === undefined ? file.filename : parseFileName(encodeURIComponent(filename))
  const mustSave = isDownload || (isActiveMediaType(file.contentType) && !isOwnOrigin)
  if (mustSave) return contentDisposition(name ?? file.cid, { type: 'attachment' })
  return name === null ? 'inline' : contentDisposition(name, { type: 'inline' })
}
