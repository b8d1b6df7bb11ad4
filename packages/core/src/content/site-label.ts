import { base36 } from 'multiformats/bases/base36'
import { CID } from 'multiformats/cid'
import { LadeError } from '../errors/lade-error.ts'

/** RFC 1035 section 2.3.4. */
export const MAX_LABEL_CHARACTERS = 63

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
 * The address of a site: that of the host which is named after its root.
 *
 * @param sitesUrl - as `GET /api/info` gives it, such as `https://*.ipfs.example.org`.
 * @returns undefined for a root that no host can be named after, and for what is no CID.
 * @example
 * siteUrl('https://*.ipfs.example.org', 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi')
 * // 'https://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi.ipfs.example.org/'
 */
export function siteUrl(sitesUrl: string, root: string): string | undefined {
  try {
    return `${sitesUrl.replace('*', siteLabel(CID.parse(root))).replace(/\/$/, '')}/`
  } catch {
    // The refusal of a long CID, or whatever CID.parse says of what is none.
    return undefined
  }
}
