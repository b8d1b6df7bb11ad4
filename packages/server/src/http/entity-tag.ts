/** True when an `If-None-Match` list names this tag, by weak comparison (RFC 9110 section 13.1.2). */
export function noneMatchNames(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  const opaque = withoutWeakness(etag)
  return header.split(',').some((candidate) => withoutWeakness(candidate.trim()) === opaque)
}

/**
 * True when a range may be answered: no `If-Range`, or one that names this tag strongly (RFC 9110 section 13.1.5). A weak
 * tag is never named so.
 */
export function rangeMayApply(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || (ifRange.trim() === etag && !etag.startsWith('W/'))
}

function withoutWeakness(tag: string): string {
  return tag.replace(/^W\//, '')
}
