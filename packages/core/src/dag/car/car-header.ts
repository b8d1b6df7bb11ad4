import { asLink, DAG_CBOR, decodeData } from '../links.ts'
import { type CarFault, malformed } from './car-index.ts'

/**
 * Checks the header of a CAR of version 1: dag-cbor, with a version and a list of roots and nothing else.
 *
 * Which roots these are does not matter, nor how many: `ipfs dag export` writes the one that was asked for, others write
 * none before they know it, or the empty identity CID in its place, and readers are told to ignore them.
 *
 * @see https://ipld.io/specs/transport/car/carv1/#header
 */
export function faultOfHeader(bytes: Uint8Array): CarFault | undefined {
  const decoded = decodeData(DAG_CBOR, bytes)
  if (decoded === undefined) return malformed('The header of the CAR does not decode as dag-cbor.')
  const header = decoded.value
  if (typeof header !== 'object' || header === null || !('version' in header)) {
    return malformed('The header of the CAR has no version.')
  }
  if (header.version === 2) {
    return malformed('The CAR has version 2. Send the CAR of version 1 that it wraps.')
  }
  if (header.version !== 1) return malformed('The version in the header of the CAR is neither 1 nor 2.')
  const isOfCids =
    'roots' in header && Array.isArray(header.roots) && header.roots.every((root) => asLink(root) !== undefined)
  if (!isOfCids) return malformed('The header of the CAR has no list of root CIDs.')
  if (Object.keys(header).length !== 2)
    return malformed('The header of the CAR has fields other than version and roots.')
  return undefined
}
