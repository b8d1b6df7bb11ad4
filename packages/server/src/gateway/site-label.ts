import { LadeError } from '@lade/core/errors'
import { base36 } from 'multiformats/bases/base36'
import { CID } from 'multiformats/cid'

/** Longer than any CID that somebody means. */
const MAX_CID_CHARACTERS = 512
/** RFC 1035 section 2.3.4. */
const MAX_LABEL_CHARACTERS = 63

/**
 * How a CID is written in the name of a host, which has no upper case: as CIDv1 in base32, or in base36 where only that is short enough.
 *
 * @throws {LadeError} `bad_request` for a CID that is too long in both.
 * @see https://specs.ipfs.tech/http-gateways/subdomain-gateway/#dns-label-limits
 * @example
 * siteLabel(CID.parse('QmbWqxBEKC3P8tqsKc98xmWNzrzDtRLMiMPL8wBuTGsMnR'))
 * // 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi'
 */
export function siteLabel(cid: CID): string {
  const v1 = CID.createV1(cid.code, cid.multihash)
  const inBase32 = v1.toString()
  if (inBase32.length <= MAX_LABEL_CHARACTERS) return inBase32
  const inBase36 = v1.toString(base36)
  if (inBase36.length <= MAX_LABEL_CHARACTERS) return inBase36
  throw new LadeError('bad_request', {
    reason: `CID incompatible with DNS label length limit of ${MAX_LABEL_CHARACTERS}: it has ${inBase36.length} characters in base36. Use format=raw or format=car at /ipfs/ to get its blocks.`,
  })
}

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
