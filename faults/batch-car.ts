import { carHeader, carSection } from '@lade/core/dag'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'

const RAW = 0x55
const SHA2_256 = 0x12
export const CAR_TYPE = 'application/vnd.ipld.car'

/** A file of a batch, with the digest that it is said to have, in hex. */
export interface NamedFile {
  readonly sha256: string
  readonly bytes: Uint8Array
}

/** A CAR whose blocks are whole files. */
export function batchOf(files: readonly NamedFile[]): Buffer {
  const sections = files.flatMap(({ sha256, bytes }) => {
    const cid = CID.createV1(RAW, createDigest(SHA2_256, Buffer.from(sha256, 'hex')))
    return [carSection(cid, bytes.length), bytes]
  })
  return Buffer.concat([carHeader([]), ...sections])
}
