import { asLink, decodeData } from '../links.ts'
import { excessOf } from './block-limits.ts'

/** Where a path leads inside of a dag-cbor or dag-json block: to a link with the segments from `restFrom` on, to a value, or nowhere. */
export type DataStep =
  | { readonly to: 'link'; readonly cid: Uint8Array; readonly restFrom: number }
  | { readonly to: 'value' }
  | { readonly to: 'nothing'; readonly missing: string }
  | { readonly to: 'undecodable' | 'excessive' }

/** Follows a path inside of a block until it meets a link. */
export function stepInData(codec: number, bytes: Uint8Array, segments: readonly string[]): DataStep {
  if (excessOf(codec, bytes) !== undefined) return { to: 'excessive' }
  const decoded = decodeData(codec, bytes)
  if (decoded === undefined) return { to: 'undecodable' }
  let value = decoded.value
  for (const [index, segment] of segments.entries()) {
    const link = asLink(value)
    if (link !== undefined) return { to: 'link', cid: new Uint8Array(link.bytes), restFrom: index }
    if (!hasEntry(value, segment)) return { to: 'nothing', missing: segment }
    value = value[segment]
  }
  const link = asLink(value)
  return link === undefined
    ? { to: 'value' }
    : { to: 'link', cid: new Uint8Array(link.bytes), restFrom: segments.length }
}

function hasEntry(value: unknown, key: string): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return false
  return Array.isArray(value) ? /^(?:0|[1-9]\d*)$/.test(key) && Object.hasOwn(value, key) : Object.hasOwn(value, key)
}
