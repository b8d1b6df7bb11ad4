import * as z from 'zod'
import { FILE_NAME_MAX_BYTES } from './file-name.ts'
import { DEAL_STATUSES, FILE_STATUSES, SCOPES, TOKEN_SCOPES } from './limits.ts'
import { MEDIA_TYPE_MAX_CHARACTERS, MEDIA_TYPE_PATTERN } from './media-type.ts'
import { CID_PATTERN, FILE_NAME_PATTERN } from './patterns.ts'

/** Fields that several shapes share. */
export const cidField = z.string().regex(new RegExp(CID_PATTERN)).describe('The content id as in the request')
/** A content id in a request. Its form is checked by hand, to be refused by a code of its own. */
export const cidText = z
  .string()
  .meta({ pattern: CID_PATTERN, examples: ['bafkreibxtagdhfi542yoiugdoansdg7652jqkrdql5rxzuivrnrye65tsa'] })
  .describe('A content id of any kind')
/** At most `maximum` characters, counted by code point, as JSON Schema counts them. */
export function textOf(maximum: number, minimum = 0) {
  const text = minimum > 0 ? z.string().min(minimum) : z.string()
  return text
    .check(({ value, issues }) => {
      // As many code units are never more code points.
      if (value.length <= maximum || [...value].length <= maximum) return
      issues.push({ code: 'too_big', origin: 'string', maximum, inclusive: true, input: value })
    })
    .meta({ maxLength: maximum })
}
/** A media type in a request. It is read by hand. */
export const mediaTypeText = z.string().meta({ maxLength: MEDIA_TYPE_MAX_CHARACTERS, pattern: MEDIA_TYPE_PATTERN })
/** A file name in a request, not percent-encoded. It is read by hand. */
export const fileNameText = z
  .string()
  .meta({ minLength: 1, maxLength: FILE_NAME_MAX_BYTES, pattern: FILE_NAME_PATTERN })
/** The cursor of a page in a query. It is read by hand, to be refused by a code of its own. */
export const cursorText = z.string().meta({ maxLength: 64 }).describe('nextCursor of the previous page')
/** The size of a page in a query, where it is text. It is read by hand. */
export function pageLimit(maximum: number) {
  return z
    .string()
    .meta({ type: 'integer', minimum: 1, maximum, default: 100 })
    .describe(`1 to ${maximum}; 100 by default`)
}
/** A term in a header, where it is text. It is read by hand. */
export const termDaysHeader = z
  .string()
  .meta({ type: 'integer', minimum: 1 })
  .describe('Storage term in days, within the limits of the tier')
export const CLAIM_SECRET_PATTERN =
  '^(?:[A-Za-z0-9_-]{4}){5,21}[A-Za-z0-9_-][AQgw]$|' +
  '^(?:[A-Za-z0-9_-]{4}){5,20}(?:[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048]|[A-Za-z0-9_-]{4})$'
const CLAIM_DIGEST_PATTERN = '^[0-9a-fA-F]{64}$'
/** It is read by hand. */
export const claimDigestHeader = z
  .string()
  .meta({ pattern: CLAIM_DIGEST_PATTERN })
  .describe('Without an account: SHA-256 of a secret, in hex; who has the secret can claim the file for an account')
/** A name for a download in a query. It is read by hand. */
export const downloadNameField = fileNameText.describe('File name of the download: at most 255 bytes of UTF-8')
export const bytesField = z.int().min(0)
export const timeField = z.iso.datetime().describe('RFC 3339, UTC')
export const dayField = z.iso.date().describe('A UTC day')
/** The scopes that a caller can ask for. */
export const scopesField = z.array(z.enum(SCOPES)).min(1)
/** The scopes that a token can have. */
export const tokenScopesField = z.array(z.enum(TOKEN_SCOPES)).min(1)
export const statusField = z.enum(DEAL_STATUSES).describe('Status of the storage deal')
export const fileStatusField = z
  .enum(FILE_STATUSES)
  .describe('Status of the storage deal; composed for a part of a composed file')
export const sha256Field = z.string().nullable().describe('Hex; null for a composed file whose parts were not read')
export const visibilityField = z.enum(['public', 'private'])
export const dealIdField = z
  .string()
  .describe('The onchain deal id (decimal) once it is known, until then the synthetic id (d-0x and hex)')
export const syntheticDealIdField = z
  .string()
  .describe('The synthetic deal id (d-0x and hex), which stays valid beside an onchain one')
export const termDaysField = z.int().min(1).max(36_500)
export const ownerField = z
  .string()
  .nullable()
  .describe('Email of the user, or address of the wallet; null for sponsored uploads')
export const userIdField = z.string().describe('Id of the user; for a wallet eip155:{chainId}:{address}')
export const emailField = z.string().nullable().describe('Null for a wallet')
