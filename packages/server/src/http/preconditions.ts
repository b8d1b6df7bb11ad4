import type { IncomingMessage } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { noneMatchNames, strongMatchNames } from './entity-tag.ts'
import { singleHeader } from './framing.ts'

/** What a representation is known by. */
export interface Validators {
  readonly etag: string
  /** When the bytes were stored, in milliseconds; undefined where nobody knows. */
  readonly modifiedAt?: number | undefined
}

/** Headers of a request that make its answer depend on what the client has. */
export const PRECONDITIONS = ['if-match', 'if-modified-since', 'if-unmodified-since'] as const

/**
 * Decides the preconditions of a GET or HEAD, in the order of RFC 9110 section 13.2.2. A tag outweighs a date, and a date that cannot be read
 * is ignored.
 *
 * @returns true when the client has these bytes already (304).
 * @throws {LadeError} `precondition_failed` when `If-Match` or `If-Unmodified-Since` does not hold.
 */
export function isNotModified(request: IncomingMessage, { etag, modifiedAt }: Validators): boolean {
  const match = singleHeader(request, 'if-match')
  if (match === undefined) {
    const unmodifiedSince = secondsOf(singleHeader(request, 'if-unmodified-since'))
    if (isLater(modifiedAt, unmodifiedSince)) throw new LadeError('precondition_failed', { etag })
  } else if (!strongMatchNames(match, etag)) {
    throw new LadeError('precondition_failed', { etag })
  }
  const noneMatch = singleHeader(request, 'if-none-match')
  if (noneMatch !== undefined) return noneMatchNames(noneMatch, etag)
  const modifiedSince = secondsOf(singleHeader(request, 'if-modified-since'))
  return modifiedSince !== undefined && modifiedAt !== undefined && !isLater(modifiedAt, modifiedSince)
}

/** `Last-Modified`; nothing where the time is not known. */
export function lastModifiedHeader(modifiedAt: number | undefined): Record<string, string> {
  return modifiedAt === undefined ? {} : { 'last-modified': new Date(modifiedAt).toUTCString() }
}

/** HTTP dates have whole seconds. */
function isLater(modifiedAt: number | undefined, seconds: number | undefined): boolean {
  return modifiedAt !== undefined && seconds !== undefined && Math.floor(modifiedAt / 1000) > seconds
}

function secondsOf(date: string | undefined): number | undefined {
  const milliseconds = date === undefined ? Number.NaN : Date.parse(date)
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000)
}
