import { type ContentId, parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { sha256Hex } from '@lade/node/hashing/sha256'

/**
 * Reads the cids of one request.
 *
 * @param maximum - how many this form of the request may have.
 * @throws {LadeError} `bad_request` for none or too many; `invalid_cid`, which names the first that is no content id.
 */
export function readCids(texts: readonly string[], maximum: number): readonly ContentId[] {
  if (texts.length === 0 || texts.length > maximum) {
    const reason = `The request has ${texts.length} cids; the limit is 1 to ${maximum}.`
    throw new LadeError('bad_request', { reason })
  }
  return texts.map(readCid)
}

function readCid(text: string): ContentId {
  try {
    return parseContentId(text, sha256Hex)
  } catch (error) {
    if (!LadeError.has(error, 'invalid_cid')) throw error
    throw new LadeError('invalid_cid', { reason: `${JSON.stringify(text.slice(0, 80))}: ${error.evidence.reason}` })
  }
}
