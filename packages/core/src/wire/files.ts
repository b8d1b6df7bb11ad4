import * as z from 'zod'
import { folderFacts } from './directories.ts'
import {
  bytesField,
  CLAIM_SECRET_PATTERN,
  cidField,
  cursorText,
  dayField,
  dealIdField,
  emailField,
  fileNameText,
  fileStatusField,
  mediaTypeText,
  pageLimit,
  sha256Field,
  syntheticDealIdField,
  termDaysField,
  textOf,
  timeField,
  userIdField,
  visibilityField,
} from './fields.ts'
import { FILE_KINDS } from './file-kind.ts'
import { MAX_ENDS_WITHIN_DAYS, MAX_FILES_PER_PAGE, MAX_SHARE_SECONDS, MAX_USAGE_DAYS } from './limits.ts'
import { fileBlock } from './moderation.ts'

/** The first seven fields are what existing clients read; the others are additions. */
export const fileEntry = z.object({
  cid: cidField,
  size: bytesField,
  filename: z.string().nullable(),
  contentType: z.string(),
  uploadedAt: timeField,
  term: z.string(),
  sponsored: z.boolean(),
  dealId: dealIdField,
  pieceCid: z.string().nullable(),
  sha256: sha256Field,
  verified: z.boolean(),
  expiresAt: timeField,
  status: fileStatusField,
  visibility: visibilityField,
  retrievalUrl: z.url(),
  syntheticDealId: syntheticDealIdField,
  ...folderFacts,
  blocked: fileBlock.optional().describe('Why the operator refuses the content; absent for a file that is served'),
})
export type FileEntry = z.infer<typeof fileEntry>

export const filesQuery = z.object({
  cursor: cursorText.optional(),
  limit: pageLimit(MAX_FILES_PER_PAGE).optional(),
  q: textOf(255).optional().describe('Part of the name or cid'),
  contentType: textOf(255).optional(),
  kind: z
    .string()
    .meta({ enum: FILE_KINDS })
    .optional()
    .describe(`By the media type: ${FILE_KINDS.join(', ')}`),
  endsWithinDays: z
    .string()
    .meta({ type: 'integer', minimum: 1, maximum: MAX_ENDS_WITHIN_DAYS })
    .optional()
    .describe(`Live files that end within so many days, 1 to ${MAX_ENDS_WITHIN_DAYS}`),
  status: z
    .string()
    .meta({ enum: fileStatusField.options })
    .optional()
    .describe(`${fileStatusField.options.join(', ')}; all live files by default`),
  token: z.string().optional().describe('Deprecated form of the Authorization header'),
})

export const fileList = z.object({
  userId: userIdField,
  email: emailField,
  count: z.int().describe('Files on this page'),
  files: z.array(fileEntry),
  nextCursor: z.string().nullable(),
})
export type FileList = z.infer<typeof fileList>

/** What the owner of a file can change. Absent fields stay as they are. */
export const changeRequest = z
  .strictObject({
    visibility: visibilityField.optional().describe('private to public needs the scope get as well'),
    contentType: mediaTypeText.optional().describe('Media type, returned unchanged on download'),
    filename: fileNameText
      .nullable()
      .optional()
      .describe('File name, not percent-encoded: at most 255 bytes of UTF-8; null for none'),
    termDays: termDaysField
      .optional()
      .describe('Storage term from the upload, in days. Longer only; needs the scope pin'),
  })
  .meta({ minProperties: 1 })
export type ChangeRequest = z.infer<typeof changeRequest>

export const shareRequest = z.object({
  ttlSeconds: z.int().min(1).max(MAX_SHARE_SECONDS).describe('Lifetime of the link; at most 30 days'),
})
export const claimRequest = z.object({
  secret: z
    .string()
    .meta({ pattern: CLAIM_SECRET_PATTERN })
    .describe('The secret whose SHA-256 was sent as X-Claim-Digest: 16 to 64 bytes, as base64url'),
})
export const shareResult = z.object({ url: z.url(), expiresAt: timeField })
export type ShareResult = z.infer<typeof shareResult>

const dayUsage = z.object({ date: dayField, bytes: bytesField, files: z.int() })
export const usageQuery = z.object({
  days: z
    .string()
    .meta({ type: 'integer', minimum: 1, maximum: MAX_USAGE_DAYS, default: 7 })
    .optional()
    .describe(`Days to list, with today: 1 to ${MAX_USAGE_DAYS}; 7 by default`),
  token: z.string().optional().describe('Deprecated form of the Authorization header'),
})

export const usageResult = z.object({
  userId: userIdField,
  email: emailField,
  quotaBytes: bytesField.describe('Daily quota that holds for this request'),
  today: z.object({
    date: dayField,
    bytes: bytesField.describe('Charged today'),
    files: z.int().describe('Files recorded today, including composed ones'),
    reservedBytes: bytesField.describe('Reserved by running uploads'),
    remainingBytes: bytesField,
    filesLimit: z.int().optional().describe('Daily limit of files; absent in versions without this limit'),
    reservedFiles: z.int().optional().describe('Files of running uploads'),
    remainingFiles: z.int().optional(),
    resetsAt: timeField,
  }),
  last7DaysTotalBytes: bytesField,
  days: z.array(dayUsage).describe('The last days, oldest first'),
  quotaMb: z.int().optional().describe('quotaBytes in whole MB of 1,048,576 bytes'),
  last7Days: z.array(dayUsage).optional().describe('The last seven of days'),
  stored: z.object({
    bytes: bytesField,
    files: z.int(),
    limitBytes: bytesField.nullable().optional().describe('The most that may be stored at a time; null for no limit'),
  }),
  userQuotaBytes: bytesField
    .optional()
    .describe('Daily quota of all tokens of the user together; quotaBytes is what this token can use of it'),
  token: z
    .object({
      quotaBytes: bytesField.describe('Daily quota of this token alone'),
      usedBytes: bytesField.describe('Charged to it today, and reserved by its running uploads'),
    })
    .nullable()
    .optional()
    .describe('The token of this request; null where that has no quota of its own'),
})
export type UsageResult = z.infer<typeof usageResult>
