import { type ContentId, parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { CID } from 'multiformats/cid'
import { cidOf } from '../../../retrieval/content-cid.ts'

/** What is behind `/ipfs/`, or another prefix. */
export interface GatewayTarget {
  readonly id: ContentId
  /** `id` as the CID of a block. */
  readonly cid: CID
  /** The names that follow it, decoded; often none. */
  readonly segments: readonly string[]
  /** The content path, `/ipfs/…`, each name percent-encoded, without a slash at the end. */
  readonly path: string
  /** True when the request has a slash at the end, which says that a folder is meant. */
  readonly hasSlash: boolean
}

/** The prefix of content paths. */
const PREFIX = '/ipfs/'

/**
 * Reads the path of a gateway request. Of several slashes in a row, all but one mean nothing. `.` and `..` are resolved, as browsers do before
 * they send a path.
 *
 * @param path - as sent, without the query.
 * @param prefix - what the path begins with. @default '/ipfs/'
 * @throws {LadeError} `invalid_cid` for what is no CID; `not_acceptable` for a piece CID; `bad_request` for a path that does
 *   not decode, or leads above the root.
 */
export function readTarget(path: string, prefix: string = PREFIX): GatewayTarget {
  const [text = '', ...rest] = path.slice(prefix.length).split('/')
  const id = parseContentId(text, sha256Hex)
  if (id.form === 'piece-v1' || id.form === 'piece-v2') {
    throw new LadeError('not_acceptable', {
      reason: `A piece CID does not identify a block. The bytes of the piece are at /piece/${text}`,
    })
  }
  if (id.cid === undefined) {
    throw new LadeError('invalid_cid', {
      reason: `Only CIDs are accepted here. The file with this id is at /p/${text}`,
    })
  }
  const segments = resolved(rest.filter((segment) => segment !== '').map(decodeSegment))
  return {
    id,
    cid: cidOf(id.cid),
    segments,
    path: PREFIX + [text, ...segments.map(encodeURIComponent)].join('/'),
    hasSlash: rest.length > 0 && (rest.at(-1) === '' || isDots(rest.at(-1) ?? '')),
  }
}

function resolved(segments: readonly string[]): string[] {
  const names: string[] = []
  for (const segment of segments) {
    if (segment === '.') continue
    if (segment !== '..') names.push(segment)
    else if (names.pop() === undefined) throw new LadeError('bad_request', { reason: 'The path leads above its root.' })
  }
  return names
}

function isDots(segment: string): boolean {
  const name = decodeSegment(segment)
  return name === '.' || name === '..'
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    if (error instanceof URIError)
      throw new LadeError('bad_request', {
        reason: 'The percent-encoding of the path is malformed or not UTF-8. A percent sign itself is %25.',
      })
    throw error
  }
}
