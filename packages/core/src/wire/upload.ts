import * as z from 'zod'
import { folderFacts } from './directories.ts'
import {
  bytesField,
  cidField,
  cidText,
  claimDigestHeader,
  dealIdField,
  ownerField,
  sha256Field,
  statusField,
  syntheticDealIdField,
  termDaysHeader,
  timeField,
  visibilityField,
} from './fields.ts'
import { ENCODED_FILE_NAME_PATTERN } from './patterns.ts'

export const uploadQuery = z.object({
  cid: cidText,
  profile: z
    .string()
    .optional()
    .describe('Import profile of a dag-pb cid, such as unixfs-v1-2025; only this one is tried'),
  token: z.string().optional().describe('Deprecated form of the Authorization header'),
})

/** For the reader and the client; the server reads these by hand, before the body. */
export const uploadHeaders = z.object({
  'content-type': z.string().describe('Media type of the bytes, returned unchanged on download'),
  'x-filename': z
    .string()
    .meta({ pattern: ENCODED_FILE_NAME_PATTERN })
    .optional()
    .describe('File name, percent-encoded: at most 255 bytes of UTF-8'),
  'x-visibility': visibilityField
    .optional()
    .describe('public (default) or private, which needs a wallet or a token of a verified account'),
  'x-term-days': termDaysHeader.optional(),
  'x-claim-digest': claimDigestHeader.optional(),
})

/** The same of a batch, whose files have neither a name nor a type. */
export const batchHeaders = uploadHeaders.pick({ 'x-visibility': true, 'x-term-days': true, 'x-claim-digest': true })

/** The first seven fields are the source document's; the others are additions. */
export const uploadResult = z.object({
  cid: cidField,
  dealId: dealIdField,
  size: bytesField.describe('Bytes'),
  retrievalUrl: z.url(),
  term: z.string().describe('Human-readable, such as "30 days"'),
  sponsored: z.boolean().describe('True if the upload was made without a token'),
  owner: ownerField,
  pieceCid: z.string().nullable().describe('Piece CID v2, once the piece commitment is known'),
  sha256: sha256Field,
  verified: z.boolean().describe('True if the cid was checked against the bytes; false for opaque ids'),
  status: statusField,
  expiresAt: timeField,
  syntheticDealId: syntheticDealIdField,
  visibility: visibilityField.describe('As the file has it now'),
  contentType: z.string().describe('As the file has it now'),
  filename: z.string().nullable().describe('As the file has it now'),
  ...folderFacts,
})
export type UploadResult = z.infer<typeof uploadResult>
