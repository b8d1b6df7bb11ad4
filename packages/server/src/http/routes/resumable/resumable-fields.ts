import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { LadeError } from '@lade/core/errors'
import {
  essenceOf,
  PARTIAL_UPLOAD_MEDIA_TYPE,
  parseFileName,
  parseMediaType,
  RESUMABLE_UPLOAD_VERSIONS,
} from '@lade/core/wire'
import type { UploadIntent } from '../../../open-uploads/upload-intent.ts'
import { announcedSha256 } from '../../body-digest.ts'
import { singleHeader } from '../../framing.ts'
import type { Query } from '../../query.ts'
import type { Service } from '../../service.ts'
import { requireRawBytes } from '../uploads/raw-bytes.ts'
import { cidOf, claimDigestOf, profileOf, termDaysOf, visibilityOf } from '../uploads/upload-head.ts'

/** What `Upload-Complete` says; undefined when it is absent or no boolean of a structured field, which counts as absent. */
export function isCompleteOf(request: IncomingMessage): boolean | undefined {
  switch (singleHeader(request, 'upload-complete')?.trim()) {
    case '?1':
      return true
    case '?0':
      return false
    default:
      return undefined
  }
}

export function completeField(isComplete: boolean): OutgoingHttpHeaders {
  return { 'upload-complete': isComplete ? '?1' : '?0' }
}

/** The interop version of a client that is sent 104 responses. */
export function interopVersionOf(request: IncomingMessage): string | undefined {
  const sent = singleHeader(request, 'upload-draft-interop-version')?.trim()
  return RESUMABLE_UPLOAD_VERSIONS.find((version) => version === sent)
}

/** @param maxAgeSeconds - how long the upload is there; absent before there is one. */
export function limitField({ config }: Pick<Service, 'config'>, maxAgeSeconds?: number): OutgoingHttpHeaders {
  const maxSize = Math.max(config.token.fileBytes, config.sponsored.fileBytes)
  const age = maxAgeSeconds === undefined ? '' : `, max-age=${Math.max(0, Math.floor(maxAgeSeconds))}`
  return { 'upload-limit': `min-size=0, max-size=${maxSize}${age}` }
}

/**
 * What the request that begins an upload says of the file, in the headers of an upload in one request. The name may also be in
 * `Content-Disposition`, and the cid be missing.
 *
 * @throws {LadeError} as `readUploadHead`.
 */
export function intentOfRequest(request: IncomingMessage, query: Query, opaqueIds: 'accept' | 'refuse'): UploadIntent {
  const cid = query.has('cid') ? cidOf(query, opaqueIds).text : undefined
  requireRawBytes(request)
  const filename = singleHeader(request, 'x-filename') ?? dispositionName(request)
  return {
    cid,
    contentType: parseMediaType(request.headers['content-type'] ?? 'application/octet-stream'),
    filename: filename === undefined ? null : parseFileName(filename),
    visibility: visibilityOf(singleHeader(request, 'x-visibility')),
    termDays: termDaysOf(singleHeader(request, 'x-term-days')),
    claimDigest: claimDigestOf(singleHeader(request, 'x-claim-digest')),
    profile: profileOf(query.get('profile')),
    sha256: announcedSha256(request),
  }
}

/** The name in `Content-Disposition`, percent-encoded: `filename*`, else `filename`. */
function dispositionName({ headers }: IncomingMessage): string | undefined {
  const field = headers['content-disposition'] ?? ''
  const extended = /;\s*filename\*\s*=\s*UTF-8''([^;\s]+)/i.exec(field)?.[1]
  if (extended !== undefined) return extended
  const plain = /;\s*filename\s*=\s*(?:"([^"]*)"|([^;\s"]+))/i.exec(field)
  const name = plain?.[1] ?? plain?.[2]
  return name === undefined ? undefined : encodeURIComponent(name)
}

/** @throws {LadeError} `unsupported_media_type`. Clients of the first versions sent another one, or none. */
export function requirePartialUpload(request: IncomingMessage): void {
  const contentType = request.headers['content-type'] ?? ''
  if (essenceOf(contentType) === PARTIAL_UPLOAD_MEDIA_TYPE) return
  const shown = contentType.slice(0, 60).replace(/[^\x20-\x7e]/g, '?')
  const reason = `The Content-Type of bytes for an upload must be ${PARTIAL_UPLOAD_MEDIA_TYPE}.`
  throw new LadeError('unsupported_media_type', { contentType: shown, reason })
}
