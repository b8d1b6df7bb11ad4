import { MAX_LABEL_CHARACTERS, siteLabel } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { CID } from 'multiformats/cid'

/** Longer than any CID that somebody means. */
const MAX_CID_CHARACTERS = 512

/**
 * The refusal of a text that is a CID, but one that no host can be named after; undefined for every other text.
 *
 * @param text - as it was sent, which may be a CID with a hash that is not served here at all.
 */
export function longLabelRefusal(text: string): LadeError<'bad_request'> | undefined {
  if (text.length <= MAX_LABEL_CHARACTERS || text.length > MAX_CID_CHARACTERS) return undefined
  try {
    siteLabel(CID.parse(text))
  } catch (error) {
    // What CID.parse throws is no LadeError.
    if (LadeError.has(error, 'bad_request')) return error
  }
  return undefined
}
