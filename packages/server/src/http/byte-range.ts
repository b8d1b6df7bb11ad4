import type { IncomingMessage } from 'node:http'
import { LadeError } from '@lade/core/errors'
import type { ByteRange } from '../blobs/blob-store.ts'
import { rangeMayApply } from './entity-tag.ts'
import { singleHeader } from './framing.ts'

export type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly range: ByteRange }
  | { readonly kind: 'unsatisfiable' }

const WHOLE: RangeAnswer = { kind: 'whole' }
/** Several ranges in one header. */
const FIRST_OF_SEVERAL = /^(bytes=)((?:[ \t]*[0-9]*-[0-9]*[ \t]*,)+)[ \t]*[0-9]*-[0-9]*[ \t]*$/i
const MAX_RANGES_CHARACTERS = 1024
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

/**
 * The part of a representation that a request asks for; undefined for all of it. `If-Range` is honoured, and only GET has
 * ranges (RFC 9110 section 14.2).
 *
 * @param representation - its tag and, where it has one, its `Last-Modified`.
 * @param several - what several ranges ask for: all of it, or, as gateways of IPFS answer, the first of them alone, which the RFC allows as
 *   well (section 15.3.7).
 * @throws {LadeError} `range_not_satisfiable`.
 */
export function askedRange(
  request: IncomingMessage,
  { etag, 'last-modified': lastModified }: { readonly etag: string; readonly 'last-modified'?: string },
  sizeBytes: number,
  { several = 'whole' }: { readonly several?: 'whole' | 'first' } = {},
): ByteRange | undefined {
  if (request.method !== 'GET' || !rangeMayApply(singleHeader(request, 'if-range'), etag, lastModified))
    return undefined
  const header = singleHeader(request, 'range')
  const answer = parseRange(several === 'first' ? firstRange(header) : header, sizeBytes)
  if (answer.kind === 'unsatisfiable') throw new LadeError('range_not_satisfiable', { size: sizeBytes })
  return answer.kind === 'part' ? answer.range : undefined
}

/** The first of several ranges as a header of its own; every other header as it is. */
function firstRange(header: string | undefined): string | undefined {
  if (header === undefined || header.length > MAX_RANGES_CHARACTERS) return header
  const [, unit, ranges] = FIRST_OF_SEVERAL.exec(header.trim()) ?? []
  return unit === undefined || ranges === undefined ? header : unit + (ranges.split(',', 1)[0] ?? '').trim()
}

/** The headers that say how much of `sizeBytes` is sent. */
export function lengthHeaders(sizeBytes: number, range: ByteRange | undefined): Record<string, string> {
  if (range === undefined) return { 'content-length': String(sizeBytes) }
  const { offset, length } = range
  return {
    'content-length': String(length),
    'content-range': `bytes ${offset}-${offset + length - 1}/${sizeBytes}`,
  }
}
