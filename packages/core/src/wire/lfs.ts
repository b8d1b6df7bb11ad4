import * as z from 'zod'

/** The media type of the Git LFS API. */
export const LFS_MEDIA_TYPE = 'application/vnd.git-lfs+json'

/** How many objects one batch may have; clients send 100. */
const MAX_LFS_OBJECTS = 1000

/** Room for `MAX_LFS_OBJECTS`. */
export const MAX_LFS_BODY_BYTES = 256 * 1024

const lfsObject = z.object({
  oid: z.string().describe('The SHA-256 of the object, as 64 hex digits'),
  size: z.number().describe('In bytes'),
})

/**
 * Which objects a client wants to upload or download.
 *
 * @see https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md
 */
export const lfsBatchRequest = z.object({
  operation: z.enum(['upload', 'download']),
  transfers: z.array(z.string().max(100)).max(20).optional().describe('`basic` is used, also if it is not among them'),
  hash_algo: z.literal('sha256').optional(),
  objects: z.array(lfsObject).max(MAX_LFS_OBJECTS),
})

export type LfsObject = z.infer<typeof lfsObject>

const lfsAction = z.object({
  href: z.string(),
  expires_at: z.string().optional().describe('RFC 3339'),
})

const lfsAnswer = lfsObject.extend({
  visibility: z
    .enum(['public', 'private'])
    .optional()
    .describe(
      'Of an upload: `public` where private files are not possible, so that everybody who knows the oid can read it',
    ),
  actions: z
    .object({ upload: lfsAction.optional(), download: lfsAction.optional() })
    .optional()
    .describe('Absent for an object that is stored, when it is to be uploaded'),
  error: z.object({ code: z.int(), message: z.string() }).optional(),
})
export type LfsAnswer = z.infer<typeof lfsAnswer>

export const lfsBatchResult = z.object({
  transfer: z.literal('basic'),
  objects: z.array(lfsAnswer),
  hash_algo: z.literal('sha256'),
})
