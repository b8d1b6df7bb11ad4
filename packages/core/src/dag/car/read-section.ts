import { IDENTITY } from '../links.ts'
import { isEqual } from './bytes-table.ts'
import { MAX_BLOCK_BYTES } from './car-frames.ts'
import { type CarFault, malformed } from './car-index.ts'
import { type CidAtHead, cidText, multihashOf, readCidAtHead } from './cid-at.ts'
import { hasDigestLength } from './digest-length.ts'

/** A hash function; it is handed views of the bytes that came, and keeps none of them. */
export type BlockHash = (bytes: Uint8Array) => Uint8Array

/** A section of a CAR whose bytes are what its CID says. */
export interface VerifiedSection extends CidAtHead {
  /** The block, as a view of the section. */
  readonly data: Uint8Array
}

/** Reads a section, a CID and then the block, and checks the one against the other. */
export function readSection(
  bytes: Uint8Array,
  {
    offsetBytes,
    hashes,
  }: { readonly offsetBytes: number; readonly hashes: (multihashCode: number) => BlockHash | undefined },
): VerifiedSection | CarFault {
  const cid = readCidAtHead(bytes)
  if (cid === undefined) return malformed(`There is no CID of version 0 or 1 at byte ${offsetBytes}.`)
  const hash = hashes(cid.hashCode)
  if (hash === undefined && cid.hashCode !== IDENTITY) {
    return malformed(
      `The CID at byte ${offsetBytes} has the hash 0x${cid.hashCode.toString(16)}, which is not supported.`,
    )
  }
  // Before anything writes the CID out: it can be as long as the section.
  if (!hasDigestLength(cid.hashCode, cid.digest)) {
    return malformed(`The CID at byte ${offsetBytes} has a digest of ${cid.digest.length} bytes.`)
  }
  const data = bytes.subarray(cid.endBytes)
  if (data.length > MAX_BLOCK_BYTES) {
    return malformed(`The block ${cidText(cid)} has ${data.length} bytes; a block has at most ${MAX_BLOCK_BYTES}.`)
  }
  if (hash === undefined || cid.hashCode === IDENTITY) {
    return isEqual(cid.digest, data)
      ? { ...cid, data }
      : malformed(`The block ${cidText(cid)} differs from the bytes in its identity CID.`)
  }
  const digest = hash(data)
  if (isEqual(cid.digest, digest)) return { ...cid, data }
  const actual = cidText({ ...cid, multihash: multihashOf(cid.hashCode, digest) })
  return { fault: 'mismatch', expected: cidText(cid), actual }
}
