import type { ByteRange } from '../blobs/blob-store.ts'

export type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly range: ByteRange }
  | { readonly kind: 'unsatisfiable' }

const WHOLE: RangeAnswer = { kind: 'whole' }
const SINGLE = /^bytes=(?:([0-9]{1,16})-([0-9]{0,16})|-([0-9]{1,16}))$/i

/**
 * What a `Range` header asks of a file (RFC 9110 section 14). A header that is not understood, and one with several
 * ranges, is answered with the whole file, as the RFC allows; so no range can make an answer larger than the file.
 *
 * @example
 * parseRange('bytes=0-4', 10) // { kind: 'part', range: { offset: 0, length: 5 } }
 */
export function parseRange(header: string | undefined, sizeBytes: number): RangeAnswer {
  if (header === undefined) return WHOLE
  const match = SINGLE.exec(header.trim())
  if (match === null) return WHOLE
  const [, first, last, suffix] = match
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), sizeBytes)
    return length === 0 ? { kind: 'unsatisfiable' } : part(sizeBytes - length, length)
  }
  const offset = Number(first)
  if (last !== undefined && last !== '' && Number(last) < offset) return WHOLE
  if (offset >= sizeBytes) return { kind: 'unsatisfiable' }
  const end = last === undefined || last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  return part(offset, end - offset + 1)
}

function part(offset: number, length: number): RangeAnswer {
  return { kind: 'part', range: { offset, length } }
}
