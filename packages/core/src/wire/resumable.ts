import * as z from 'zod'

/** The version of tus that is spoken. @see https://tus.io/protocols/resumable-upload */
export const TUS_VERSION = '1.0.0'

/** What of tus is there beside its core. */
export const TUS_EXTENSIONS = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'expiration',
  'checksum',
  'termination',
  'concatenation',
] as const

/** Algorithms of `Upload-Checksum`. */
export const TUS_CHECKSUMS = ['sha1', 'sha256', 'sha512', 'md5'] as const

/** The media type of bytes that a tus upload continues with. */
export const TUS_MEDIA_TYPE = 'application/offset+octet-stream'

/** The same of a resumable upload of the IETF. */
export const PARTIAL_UPLOAD_MEDIA_TYPE = 'application/partial-upload'

/** The current interop version of draft-ietf-httpbis-resumable-upload, and the one that Apple's clients speak. */
export const RESUMABLE_UPLOAD_VERSIONS = ['8', '6'] as const

/** How many partial uploads a concatenation has at most. */
export const MAX_TUS_PARTS = 1000

const count = z.string().regex(/^\d{1,16}$/)

/** The headers of a request that opens a tus upload. */
export const tusCreateHeaders = z.object({
  'tus-resumable': z.literal(TUS_VERSION),
  'upload-length': count.optional().describe('Bytes in all; or send Upload-Defer-Length'),
  'upload-defer-length': z.literal('1').optional().describe('The size is sent later, as Upload-Length of a PATCH'),
  'upload-metadata': z
    .string()
    .max(8192)
    .optional()
    .describe(
      'Pairs of a key and a base64 value: cid, filename, filetype, visibility, termDays, profile, sha256, claimDigest',
    ),
  'upload-concat': z.string().optional().describe('partial, or final; and the URLs of partial uploads'),
  'upload-checksum': z.string().optional().describe('Of the body: an algorithm and the digest in base64'),
})

/** The headers of a request that adds bytes to a tus upload. */
export const tusPatchHeaders = z.object({
  'tus-resumable': z.literal(TUS_VERSION),
  'upload-offset': count.describe('Where the upload continues; as HEAD says'),
  'upload-length': count.optional().describe('Bytes in all, if the upload was opened without them'),
  'upload-checksum': z.string().optional().describe('Of the body: an algorithm and the digest in base64'),
})

/** The headers of a request that adds bytes to a resumable upload of the IETF. */
export const resumableAppendHeaders = z.object({
  'upload-complete': z.enum(['?0', '?1']).describe('?1 if the body ends the file'),
  'upload-offset': count.describe('Where the upload continues; as HEAD says'),
  'upload-length': count.optional().describe('Bytes in all, if not said before'),
})
