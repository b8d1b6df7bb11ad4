import * as z from 'zod'
import { cidText, claimDigestHeader, fileNameText, mediaTypeText, termDaysHeader, visibilityField } from './fields.ts'

/**
 * What the size of every part of a composed file is a whole multiple of, but the last's: 127 MiB, which is 127 leaves of
 * 1 MiB and fills one subtree of 128 MiB in the piece tree.
 */
export const PART_BYTES = 127 * 1024 * 1024

/** The most parts that one file is composed of. */
export const MAX_PARTS = 4096

/** Enough for that many of the longest cids; other JSON bodies are smaller. */
export const MAX_COMPOSE_BODY_BYTES = 524_288

/** How many parts an error names; the others are only counted. */
export const MAX_PARTS_NAMED = 100

export const composeQuery = z.object({
  cid: cidText.describe('Content id of the whole file, of any kind that can be verified'),
  token: z.string().optional().describe('Deprecated form of the Authorization header'),
})

/** For the reader and the client; the server reads these by hand, before the body. */
export const composeHeaders = z.object({
  'x-visibility': visibilityField
    .optional()
    .describe('public (default) or private, which needs a wallet or a token of a verified account'),
  'x-term-days': termDaysHeader.optional(),
  'x-claim-digest': claimDigestHeader.optional(),
})

// How many parts there may be is checked by hand, to be refused by the same code as every other fault of theirs.
export const composeRequest = z.object({
  parts: z
    .array(cidText)
    .meta({ minItems: 1, maxItems: MAX_PARTS })
    .describe(
      `Content ids of your live files, in order. Every part but the last has a multiple of ${PART_BYTES} bytes`,
    ),
  contentType: mediaTypeText.optional().describe('Media type of the whole file; default application/octet-stream'),
  filename: fileNameText.nullable().optional().describe('File name, not percent-encoded: at most 255 bytes of UTF-8'),
})
export type ComposeRequest = z.infer<typeof composeRequest>
