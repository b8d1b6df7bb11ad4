/** Headers of the API that a page of another origin may read. */
export const exposedHeaders = [
  'Retry-After',
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'Deprecation',
  'Sunset',
  'Accept-Signature',
  'Location',
  'X-Cid',
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Checksum-Algorithm',
  'Upload-Complete',
  'Upload-Concat',
  'Upload-Defer-Length',
  'Upload-Draft-Interop-Version',
  'Upload-Expires',
  'Upload-Length',
  'Upload-Limit',
  'Upload-Metadata',
  'Upload-Offset',
].join(', ')

/** Any page may ask: callers are known by what they send, never by a cookie. */
export const anyOrigin = '*'

/** In every answer of the API; the framework's plugin sets the same by these values. */
export const corsHeaders = {
  'access-control-allow-origin': anyOrigin,
  'access-control-expose-headers': exposedHeaders,
} as const
