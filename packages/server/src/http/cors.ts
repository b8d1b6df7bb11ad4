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
].join(', ')

/** Any page may ask: callers are known by what they send, never by a cookie. */
export const anyOrigin = '*'

/** In every answer of the API; the framework's plugin sets the same by these values. */
export const corsHeaders = {
  'access-control-allow-origin': anyOrigin,
  'access-control-expose-headers': exposedHeaders,
} as const
