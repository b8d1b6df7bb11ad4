import { LadeError } from '@lade/core/errors'
import { isPageMediaType, isPdfMediaType, isShownMediaType } from '@lade/core/wire'
import { mediaTypeOfName, SNIFFED_BYTES, sniffedMediaType, withCharset } from '../../../gateway/content-media-type.ts'
import { type FileResource, firstBytes } from '../../../gateway/gateway-resource.ts'
import type { PageStatus } from '../../../gateway/redirects-file.ts'
import { askedRange, lengthHeaders } from '../../byte-range.ts'
import { cutWhenBlocked } from '../../cut-when-blocked.ts'
import { requestIdOf } from '../../exchange.ts'
import { contentHostOf, folderPolicyOf, shownPolicyOf } from '../../file-headers.ts'
import { isNotModified } from '../../preconditions.ts'
import { sendObject } from '../../send-body.ts'
import { blocksOf, type ContentRequest, contentName } from './content-request.ts'
import { askedName, gatewayHeaders, sendNotModified } from './gateway-headers.ts'

export interface FileAnswer {
  /** The name that the path gives the file; undefined for a path without names. */
  readonly name: string | undefined
  /** True for a file of a folder, whose pages are shown with the files beside them. */
  readonly isInFolder: boolean
  /** Of a page that stands for a path that leads nowhere. @default 200, or 206 for a range */
  readonly status?: Exclude<PageStatus, 200> | undefined
  /** True for a page that its folder names for the path: it stands there as long as a file would. */
  readonly isLasting?: boolean
}

const JSON_TYPE = 'application/json'

/** Answers a file that a path leads to: whole, in part, as not modified, or by its head alone. */
export async function sendFileAt(content: ContentRequest, file: FileResource, answer: FileAnswer): Promise<void> {
  const { asked, path, block } = content
  const { service, request, response } = asked
  const contentType = await contentTypeOf(content, file, answer)
  const isNoFile = answer.status !== undefined
  const suffix = asked.asked.format === 'json' && contentType === JSON_TYPE ? '.json' : ''
  const etag = `"${contentName(content)}${suffix}"`
  // What is not there now may be later, where a folder is named otherwise than by its content.
  const isKept = !isNoFile || answer.isLasting === true
  const caching = isKept ? await asked.cachingOf(blocksOf(content)) : 'no-store'
  const { disposition, policy } = viewOf(content, contentType, answer)
  // A browser also takes the policy of a 304 for that of the page.
  if (policy !== undefined) asked.headers['content-security-policy'] = policy
  if (!isNoFile && isNotModified(request, { etag })) return sendNotModified(asked, etag, caching)

  const { sizeBytes } = file
  const range = isNoFile ? undefined : askedRange(request, { etag }, sizeBytes, { several: 'first' })
  const head = {
    ...requestIdOf(request),
    ...gatewayHeaders(asked, {
      contentType,
      etag,
      caching,
      disposition,
      name: disposition === 'inline' ? undefined : (answer.name ?? contentName(content)),
      roots: path.roots,
      isOfNoFormat: suffix === '',
    }),
    ...(isNoFile ? {} : { 'accept-ranges': 'bytes' }),
    ...lengthHeaders(sizeBytes, range),
    ...asked.headers,
  }
  const begin = (): unknown => response.writeHead(answer.status ?? (range === undefined ? 200 : 206), head)
  if (request.method === 'HEAD') {
    begin()
    response.end()
    return
  }
  const object = await file.open()
  const send = () => sendObject(response, object, { begin, range })
  await (block.place.kind === 'identity' ? send() : cutWhenBlocked(service, response, block.place.object, send))
}

/**
 * The media type of a file: by its name, else by how it begins.
 *
 * @throws {LadeError} `not_acceptable` for a file that is no JSON, when nothing else will do.
 */
async function contentTypeOf({ asked }: ContentRequest, file: FileResource, { name }: FileAnswer): Promise<string> {
  const first = await firstBytes(file, SNIFFED_BYTES).catch(nothingWhenMissing)
  const named = mediaTypeOfName(askedName(asked.query) ?? name)
  const { format, isOptional } = asked.asked
  const sniffed = (): string => sniffedMediaType(first, first.length === file.sizeBytes)
  if (format === 'json' && (named === JSON_TYPE || sniffed() === JSON_TYPE)) return JSON_TYPE
  if (format === 'json' && !isOptional) {
    throw new LadeError('not_acceptable', { reason: 'The file is not JSON. Leave the format out to get it as it is.' })
  }
  return withCharset(named ?? sniffed(), first)
}

/** A range can be read without the block that a file begins with. */
function nothingWhenMissing(error: unknown): Uint8Array {
  if (LadeError.has(error, 'not_found')) return new Uint8Array()
  throw error
}

interface View {
  readonly disposition: 'inline' | 'attachment'
  /** Undefined for the policy of everything at this door that is shown and runs nothing, if it has one. */
  readonly policy: string | undefined
}

/** How a browser opens the file. Pages alone are saved, unless they have an origin of their own; pages of folders are shown without scripts. */
function viewOf({ asked }: ContentRequest, contentType: string, { isInFolder }: FileAnswer): View {
  const { service, request, query, prefix } = asked
  // A site has its origin for itself.
  if (prefix === '/')
    return { disposition: query.get('download') === 'true' ? 'attachment' : 'inline', policy: undefined }
  const contentHost = contentHostOf(service.config)
  const isOwnOrigin = contentHost !== undefined && request.headers.host === contentHost
  const isShown = isInFolder ? !isPdfMediaType(contentType) : isShownMediaType(contentType)
  const mayOpen = isShown || (isOwnOrigin && isPageMediaType(contentType))
  if (!mayOpen || query.get('download') === 'true') return { disposition: 'attachment', policy: undefined }
  return { disposition: 'inline', policy: isInFolder ? folderPolicyOf(contentType) : shownPolicyOf(contentType) }
}
