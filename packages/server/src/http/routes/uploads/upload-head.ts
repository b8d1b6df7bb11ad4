import type { IncomingMessage } from 'node:http'
import { type ContentId, parseContentId } from '@lade/core/content'
import { IMPORT_PROFILES, type ImportProfileName } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { HEADER, parseFileName, parseMediaType } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { Visibility } from '../../../records/record-store.ts'
import type { UploadHead } from '../../../uploads/admit-upload.ts'
import { namesEmptyFile } from '../../../uploads/empty-file.ts'
import { announcedSha256 } from '../../body-digest.ts'
import { declaredBytes, isChunked, singleHeader } from '../../framing.ts'
import type { Query } from '../../query.ts'
import { requireRawBytes } from './raw-bytes.ts'

/**
 * Reads what the head of an upload says, in the order in which the contract has it checked: cid, length, then the
 * form of the other headers.
 *
 * @throws {LadeError} `invalid_cid`, `no_body`, `empty_body`, `unsupported_encoding`, `unsupported_media_type`, `invalid_content_type`, `invalid_filename`,
 *   `invalid_visibility`, `invalid_term`, `bad_request` for an import profile, a digest field or the digest of a claim that is none.
 */
export function readUploadHead(request: IncomingMessage, query: Query, opaqueIds: 'accept' | 'refuse'): UploadHead {
  const cid = cidOf(query, opaqueIds)
  const sizeBytes = declaredBytes(request)
  if (sizeBytes === undefined && !isChunked(request)) throw new LadeError('no_body', {})
  if (sizeBytes === 0 && !namesEmptyFile(cid)) throw new LadeError('empty_body', {})
  requireRawBytes(request)
  return {
    cid,
    sizeBytes,
    contentType: parseMediaType(request.headers['content-type']),
    filename: filenameOf(singleHeader(request, HEADER.filename)),
    visibility: visibilityOf(singleHeader(request, HEADER.visibility)),
    termDays: termDaysOf(singleHeader(request, HEADER.termDays)),
    claimDigest: claimDigestOf(singleHeader(request, HEADER.claimDigest)),
    profile: profileOf(query.get('profile')),
    sha256: announcedSha256(request),
  }
}

export function cidOf(query: Query, opaqueIds: 'accept' | 'refuse'): ContentId {
  const text = query.get('cid')
  if (text === undefined)
    throw new LadeError('invalid_cid', {
      reason: 'The query parameter cid is missing. Use POST /api/upload?cid=… with the content id of the bytes.',
    })
  const cid = parseContentId(text, sha256Hex)
  if (cid.form === 'opaque' && opaqueIds === 'refuse') {
    throw new LadeError('invalid_cid', {
      reason:
        'The cid is not an id that can be verified, and this service does not accept opaque ids. Use a CID or a SHA-256.',
    })
  }
  return cid
}

function filenameOf(header: string | undefined): string | null {
  return header === undefined ? null : parseFileName(header)
}

export function visibilityOf(header: string | undefined): Visibility | undefined {
  switch (header) {
    case undefined:
    case 'public':
    case 'private':
      return header
    default:
      throw new LadeError('invalid_visibility', {
        reason: `X-Visibility is ${JSON.stringify(header.slice(0, 40))}. It must be public or private.`,
      })
  }
}

export function termDaysOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (!/^[1-9][0-9]{0,4}$/.test(header)) {
    throw new LadeError('invalid_term', {
      reason: `X-Term-Days is ${JSON.stringify(header.slice(0, 40))}. It must be a whole number of days, at least 1.`,
    })
  }
  return Number(header)
}

/** @throws {LadeError} `bad_request`. */
export function claimDigestOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  if (/^[0-9a-f]{64}$/i.test(header)) return header.toLowerCase()
  throw new LadeError('bad_request', {
    reason: 'X-Claim-Digest must be the SHA-256 of a secret, as 64 hex digits.',
  })
}

/** @throws {LadeError} `bad_request`. */
export function profileOf(name: string | undefined): ImportProfileName | undefined {
  if (name === undefined) return undefined
  const profile = Object.values(IMPORT_PROFILES).find((known) => known.name === name)
  if (profile !== undefined) return profile.name
  const names = Object.keys(IMPORT_PROFILES).join(', ')
  throw new LadeError('bad_request', { reason: `The query parameter profile must be one of ${names}.` })
}
