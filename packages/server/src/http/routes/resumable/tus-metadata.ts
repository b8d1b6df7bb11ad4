import { parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { parseFileName, parseMediaType } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { UploadIntent } from '../../../open-uploads/upload-intent.ts'
import type { Query } from '../../query.ts'
import { cidOf, claimDigestOf, profileOf, termDaysOf, visibilityOf } from '../uploads/upload-head.ts'

const MOST_CHARACTERS = 8192
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * Reads `Upload-Metadata`: pairs of a key and a value in base64, between commas.
 *
 * @throws {LadeError} `bad_request`.
 * @example metadataOf('filename d29ybGQ=,private').get('filename') // 'world'
 */
export function metadataOf(header: string): ReadonlyMap<string, string> {
  const metadata = new Map<string, string>()
  if (header.length > MOST_CHARACTERS) throw malformed(`It has more than ${MOST_CHARACTERS} characters.`)
  for (const pair of header.split(',').filter((text) => text.trim() !== '')) {
    const [key = '', value = '', ...more] = pair.trim().split(' ')
    if (!/^[\x21-\x7e]+$/.test(key) || more.length > 0) throw malformed('A pair is a key, a space and a value.')
    if (!BASE64.test(value)) throw malformed(`The value of ${key} is not base64.`)
    if (metadata.has(key)) throw malformed(`The key ${key} appears twice.`)
    metadata.set(key, utf8(key, value))
  }
  return metadata
}

/**
 * What a tus upload is to become, by its metadata. Keys of common clients count, too: `name` and `type`. Others are kept and not looked at.
 *
 * @throws {LadeError} as the head of an upload.
 */
export function intentOf(
  metadata: ReadonlyMap<string, string>,
  { query, opaqueIds }: { readonly query: Query; readonly opaqueIds: 'accept' | 'refuse' },
): UploadIntent {
  const cid = given(metadata, 'cid') ?? query.get('cid')
  if (cid !== undefined) cidOf(new Map([['cid', cid]]), opaqueIds)
  const filename = given(metadata, 'filename', 'name')
  const contentType = given(metadata, 'filetype', 'type') ?? 'application/octet-stream'
  const sha256 = given(metadata, 'sha256')
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256)) throw malformed('sha256 must be 64 hex digits.')
  return {
    cid: cid === undefined ? undefined : parseContentId(cid, sha256Hex).text,
    contentType: parseMediaType(contentType),
    filename: filename === undefined ? null : parseFileName(encodeURIComponent(filename)),
    visibility: visibilityOf(given(metadata, 'visibility')),
    termDays: termDaysOf(given(metadata, 'termDays')),
    claimDigest: claimDigestOf(given(metadata, 'claimDigest')),
    profile: profileOf(given(metadata, 'profile')),
    sha256: sha256?.toLowerCase(),
  }
}

/** A value that is not empty: browsers know no type of some files. */
function given(metadata: ReadonlyMap<string, string>, ...keys: readonly string[]): string | undefined {
  return keys.map((key) => metadata.get(key)).find((value) => value !== undefined && value !== '')
}

function utf8(key: string, base64: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'))
  } catch (error) {
    if (error instanceof TypeError) throw malformed(`The value of ${key} is not UTF-8.`)
    throw error
  }
}

function malformed(fault: string): LadeError<'bad_request'> {
  return new LadeError('bad_request', { reason: `Upload-Metadata is malformed. ${fault}` })
}
