import type { JsonSchema } from './schema-components.ts'

interface Header {
  readonly description: string
  readonly required?: true
  readonly schema: JsonSchema
}

const text = { type: 'string' } as const
const wholeNumber = { type: 'integer', format: 'int64', minimum: 0 } as const

/** What responses say in their headers, by name. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': { description: 'Finds the request in the log of the service', required: true, schema: text },
  'Retry-After': { description: 'Seconds to wait before the next attempt', schema: wholeNumber },
  'WWW-Authenticate': { description: 'How to authenticate (RFC 6750)', schema: text },
  'Content-Range': { description: 'Which bytes these are, or how many there are', schema: text },
  'Accept-Ranges': { description: 'bytes, or none', schema: { type: 'string', enum: ['bytes', 'none'] } },
  'Content-Disposition': { description: 'inline or attachment, and the file name', schema: text },
  'Cache-Control': { description: 'How long caches may keep the response', schema: text },
  'Repr-Digest': { description: 'SHA-256 of the whole file (RFC 9530)', schema: text },
  ETag: { description: 'Validator for If-None-Match and If-Range', schema: text },
  'Set-Cookie': { description: 'The cookie of the session', schema: text },
  Location: { description: 'URL of the file, or of the upload', schema: { type: 'string', format: 'uri' } },
  'X-Cid': { description: 'The cid of the file that the upload has become', schema: text },
  'Upload-Offset': { description: 'Bytes that are durable', schema: wholeNumber },
  'Upload-Length': { description: 'Bytes in all, if known', schema: wholeNumber },
  'Upload-Expires': { description: 'When the upload ends if no bytes come', schema: text },
  'Tus-Resumable': { description: 'The version of tus', schema: text },
  'X-Ipfs-Path': { description: 'The requested path', schema: text },
  'X-Ipfs-Roots': { description: 'The requested CID', schema: text },
  'X-RateLimit-Limit': { description: 'Daily quota of the caller, in bytes', schema: wholeNumber },
  'X-RateLimit-Remaining': { description: 'Bytes left today', schema: wholeNumber },
  'X-RateLimit-Reset': { description: 'When the next day starts, in seconds since 1970', schema: wholeNumber },
  'RateLimit-Policy': { description: 'The quotas of the caller (draft-ietf-httpapi-ratelimit-headers)', schema: text },
  RateLimit: { description: 'The remaining quotas of the caller', schema: text },
} as const satisfies Record<string, Header>

export type ResponseHeader = keyof typeof RESPONSE_HEADERS

/** What is left of the daily quota. */
export const QUOTA_HEADERS: readonly ResponseHeader[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
]

/** Of a file, or a part of one. */
export const FILE_HEADERS: readonly ResponseHeader[] = [
  'Accept-Ranges',
  'Cache-Control',
  'Content-Disposition',
  'ETag',
  'Repr-Digest',
]

/** References to these headers, for a response. */
export function headersOf(names: readonly ResponseHeader[]): Record<string, { readonly $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
