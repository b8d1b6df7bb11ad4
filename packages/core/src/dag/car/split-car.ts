import { CarFrames } from './car-frames.ts'
import { faultOfHeader } from './car-header.ts'
import { type CarFault, malformed } from './car-index.ts'
import { cidText, readCidAtHead } from './cid-at.ts'
import { hasDigestLength } from './digest-length.ts'

/** A block of a CAR, as the CAR names it. */
export interface NamedBlock {
  /** The CID as text: base58 for version 0, else base32. */
  readonly cid: string
  readonly version: 0 | 1
  readonly codec: number
  readonly hashCode: number
  /** A view of the CAR. Nobody has checked it against the CID. */
  readonly data: Uint8Array
}

/**
 * Cuts a CAR of version 1 into its blocks, in their order. Only the framing is checked: whether a block is what its CID says is the caller's
 * to find out.
 *
 * @returns a fault for bytes that are not a whole CAR; never throws for what is in them.
 *
 * @example
 * const blocks = splitCar(bytes)
 * if ('fault' in blocks) throw new LadeError('invalid_car', { reason: blocks.reason })
 */
export function splitCar(bytes: Uint8Array): readonly NamedBlock[] | (CarFault & { readonly fault: 'malformed' }) {
  const blocks: NamedBlock[] = []
  let isHeaderTaken = false
  const frames = new CarFrames({
    sizeBytes: bytes.length,
    takeFrame: (frame, offsetBytes) => {
      if (!isHeaderTaken) {
        isHeaderTaken = true
        return faultOfHeader(frame)
      }
      const cid = readCidAtHead(frame)
      if (cid === undefined) return malformed(`There is no CID of version 0 or 1 at byte ${offsetBytes}.`)
      // Before anything writes the CID out: it can be as long as the section.
      if (!hasDigestLength(cid.hashCode, cid.digest)) {
        return malformed(
          `The CID at byte ${offsetBytes} has the hash 0x${cid.hashCode.toString(16)} and a digest of ${cid.digest.length} bytes, which is not supported.`,
        )
      }
      const { version, codec, hashCode, endBytes } = cid
      blocks.push({ cid: cidText(cid), version, codec, hashCode, data: frame.subarray(endBytes) })
      return undefined
    },
  })
  const fault = frames.update(bytes) ?? frames.finish()
  if (fault === undefined) return blocks
  return fault.fault === 'malformed' ? fault : { fault: 'malformed', reason: 'The CAR is malformed.' }
}
