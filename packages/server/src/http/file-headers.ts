import { isPageMediaType, isPdfMediaType, isShownMediaType, parseFileName } from '@lade/core/wire'
import { create as contentDisposition } from 'content-disposition'
import type { ServedFile } from '../retrieval/served-file.ts'
import { lastModifiedHeader } from './preconditions.ts'

/** As long as gateways of the network say. An operator who lets caches keep content for so long never takes any of it back. */
const IMMUTABLE_SECONDS = 29_030_400
/** For what may give way to something better under the same address. */
const PROVISIONAL_SECONDS = 300

const EXPOSED = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Length',
  'Content-Location',
  'Content-Range',
  'ETag',
  'Last-Modified',
  'Repr-Digest',
  'X-Ipfs-Path',
  'X-Ipfs-Roots',
  'X-Request-Id',
].join(', ')

/**
 * A browser that opens a file shows or plays it, and runs nothing. It makes a document of its own around an image, a video or an audio file,
 * which loads that file from this origin and has its styles inside.
 */
const SHOWN_POLICY = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'"

/**
 * A page on an origin of its own runs with what it brings and with files of that origin, and asks nobody else. The sandbox keeps pages of
 * different uploaders apart: none of them has the origin for itself, with its storage.
 */
const PAGE_POLICY =
  "sandbox allow-scripts allow-modals allow-popups allow-downloads; default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; " +
  "base-uri 'none'; form-action 'none'; object-src 'none'"

/**
 * A page of a folder is shown with the styles, fonts, images and media beside it, and runs nothing: folders of different uploaders share this
 * origin. What it links to may be saved.
 */
const FOLDER_POLICY =
  "sandbox allow-downloads; default-src 'none'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self'; media-src 'self'; " +
  "base-uri 'none'; form-action 'none'"

/** The viewers of some browsers do not start in a sandbox. They run what is in a PDF apart from its origin. */
const PDF_POLICY = "default-src 'none'; object-src 'self'; img-src 'self'; style-src 'unsafe-inline'"

/** Headers of every answer with content, good or bad: nothing that an uploader wrote may run as a page of this origin. */
export const CONTENT_GUARD: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': SHOWN_POLICY,
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
  readonly caching: CachingRules
}

/** How long caches may keep content. */
export interface CacheTime {
  /** The longest that they may. */
  readonly maxSeconds: number
  /** Epoch milliseconds; absent for content whose end is not known. */
  readonly expiresAt?: number | undefined
  readonly now: number
}

/** What the answer to one request says to caches. */
export interface CachingRules extends Omit<CacheTime, 'expiresAt'> {
  /** True when the answer is for its caller alone, also of a public file. @default false */
  readonly isOwn?: boolean
}

/** For how long caches may keep content: to the end of its term, and no longer than they may keep any. */
export function cacheSecondsOf({ maxSeconds, expiresAt = Number.POSITIVE_INFINITY, now }: CacheTime): number {
  return Math.max(0, Math.min(maxSeconds, Math.floor((expiresAt - now) / 1000)))
}

/** What caches may do with content that everybody may see. */
export function publicCaching(time: CacheTime): string {
  const immutable = time.maxSeconds >= IMMUTABLE_SECONDS ? ', immutable' : ''
  return `public, max-age=${cacheSecondsOf(time)}${immutable}`
}

/** How long caches may keep a file. */
export function cacheTimeOf(
  { file: { expiresAt }, isSettled }: Pick<ServedFile, 'isSettled' | 'file'>,
  { maxSeconds, now }: Omit<CacheTime, 'expiresAt'>,
): CacheTime {
  return { maxSeconds: isSettled ? maxSeconds : Math.min(maxSeconds, PROVISIONAL_SECONDS), expiresAt, now }
}

/** The host that retrieval has for itself, as requests name it; undefined when it shares the API's. */
export function contentHostOf(config: { readonly contentUrl?: string }): string | undefined {
  return config.contentUrl === undefined ? undefined : new URL(config.contentUrl).host
}

/**
 * The validator of a file: the cid it was asked for by, since the bytes under a cid are mostly the same for ever; where
 * they may not be, with a part of their digest.
 */
export function entityTagOf(cid: string, { isSettled, file }: Pick<ServedFile, 'isSettled' | 'file'>): string {
  return isSettled ? `"${cid}"` : `"${cid}.${file.object.slice(0, 16)}"`
}

/**
 * The headers of a file, for 200, 206 and HEAD alike.
 *
 * @throws {LadeError} `invalid_filename` for a `?filename=` that could not be given back safely.
 */
export function fileHeaders(served: ServedFile, options: FileHeaderOptions): Record<string, string> {
  const { contentType, sha256 } = served
  const disposition = dispositionOf(served, options)
  return {
    ...CONTENT_GUARD,
    ...(disposition.startsWith('inline') ? policyHeader(shownPolicyOf(contentType)) : {}),
    'content-type': contentType,
    'content-disposition': disposition,
    ...validatorsOf(options.cid, served),
    'accept-ranges': 'bytes',
    ...(sha256 === undefined ? {} : { 'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:` }),
    ...cachingOf(served, options.caching),
  }
}

/** The tag and the time of a file, also said on 304. */
export function validatorsOf(
  cid: string,
  served: Pick<ServedFile, 'isSettled' | 'file'>,
): { readonly etag: string; readonly 'last-modified'?: string } {
  return { etag: entityTagOf(cid, served), ...lastModifiedHeader(served.file.uploadedAt) }
}

/**
 * The policy of a document that is opened; undefined for that of everything but pages. Only an origin of its own opens pages that stand alone.
 */
export function shownPolicyOf(contentType: string): string | undefined {
  if (!isPageMediaType(contentType)) return undefined
  return isPdfMediaType(contentType) ? PDF_POLICY : PAGE_POLICY
}

/** The same for a file of a folder, on whatever origin. */
export function folderPolicyOf(contentType: string): string {
  return isPdfMediaType(contentType) ? PDF_POLICY : FOLDER_POLICY
}

function policyHeader(policy: string | undefined): Record<string, string> {
  return policy === undefined ? {} : { 'content-security-policy': policy }
}

/** What a cache may do with the file, also said on 304. A private file is asked for again each time. */
export function cachingOf(
  served: Pick<ServedFile, 'isSettled' | 'file'>,
  { isOwn = false, ...caching }: CachingRules,
): Record<string, string> {
  if (served.file.visibility === 'private') return { 'cache-control': 'private, no-cache', vary: 'Authorization' }
  const time = cacheTimeOf(served, caching)
  if (!isOwn) return { 'cache-control': publicCaching(time) }
  return { 'cache-control': `private, max-age=${cacheSecondsOf(time)}`, vary: 'Authorization' }
}

function dispositionOf({ file, contentType, filename }: ServedFile, options: FileHeaderOptions): string {
  const { isDownload = false, isOwnOrigin } = options
  const name = options.filename === undefined ? filename : parseFileName(encodeURIComponent(options.filename))
  const mayOpen = isShownMediaType(contentType) || (isOwnOrigin && isPageMediaType(contentType))
  if (isDownload || !mayOpen) return contentDisposition(name ?? file.cid, { type: 'attachment' })
  return name === null ? 'inline' : contentDisposition(name, { type: 'inline' })
}
