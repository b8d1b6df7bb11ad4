import { type ContentId, parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { CID } from 'multiformats/cid'
import { cidOf } from '../../../retrieval/content-cid.ts'

/** What stands behind `/ipfs/`. */
export interface GatewayTarget {
  readonly id: ContentId
  /** `id` as the CID of a block. */
  readonly cid: CID
  /** The names that follow it, decoded; often none. */
  readonly segments: readonly string[]
  /** The whole path, each name percent-encoded. */
  readonly path: string
}

const PREFIX = '/ipfs/'

/**
 * Reads the path of a gateway request. A slash at the end, and one behind another, mean nothing.
 *
 * @param path - as sent, `/ipfs/…`, without the query.
 * @throws {LadeError} `invalid_cid` for what is no CID; `not_acceptable` for a piece CID; `bad_request` for a path that does
 *   not decode.
 */
export function readTarget(path: string): GatewayTarget {
  const [text = '', ...rest] = path.slice(PREFIX.length).split('/')
  const id = parseContentId(text, sha256Hex)
  if (id.form === 'piece-v1' || id.form === 'piece-v2') {
    throw new LadeError('not_acceptable', {
      reason: `A piece CID does not identify a block. The bytes of the piece are at /piece/${text}`,
    })
  }
  if (id.cid === undefined) {
    throw new LadeError('invalid_cid', { reason: `/ipfs/ accepts only CIDs. The file with this id is at /p/${text}` })
  }
  const segments = rest.filter((segment) => segment !== '').map(decodeSegment)
  return { id, cid: cidOf(id.cid), segments, path: PREFIX + [text, ...segments.map(encodeURIComponent)].join('/') }
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
