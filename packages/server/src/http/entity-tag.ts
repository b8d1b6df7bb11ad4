/** True when an `If-None-Match` list names this tag, by weak comparison (RFC 9110 section 13.1.2). */
export function noneMatchNames(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  const opaque = withoutWeakness(etag)
  return header.split(',').some((candidate) => withoutWeakness(candidate.trim()) === opaque)
}

/** True when an `If-Match` list names this tag, by strong comparison (RFC 9110 section 13.1.1): a weak tag is never named. */
export function strongMatchNames(header: string, etag: string): boolean {
  if (header.trim() === '*') return true
  return !etag.startsWith('W/') && header.split(',').some((candidate) => candidate.trim() === etag)
}

/**
 * True when a range may be answered: no `If-Range`, or one that names this tag strongly or has exactly this `Last-Modified` (RFC 9110 section
 * 13.1.5).
 */
export function rangeMayApply(ifRange: string | undefined, etag: string, lastModified?: string): boolean {
  if (ifRange === undefined) return true
  const value = ifRange.trim()
  return (value === etag && !etag.startsWith('W/')) || value === lastModified
}

function withoutWeakness(tag: string): string {
  return tag.replace(/^W\//, '')
}
