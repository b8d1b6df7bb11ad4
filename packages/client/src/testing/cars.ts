import * as dagCbor from '@ipld/dag-cbor'
import { carHeader, carSection } from '@lade/core/dag'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { concatBytes } from '../concat-bytes.ts'

/** A CAR of these blocks, each by the text of its CID. */
export function carOf(root: CID, blocks: ReadonlyMap<string, Uint8Array>): Uint8Array<ArrayBuffer> {
  const sections = [...blocks].flatMap(([cid, bytes]) => [carSection(CID.parse(cid), bytes.length), bytes])
  return concatBytes([carHeader([root]), ...sections])
}

/** A dag-cbor block that links to `target`. */
export async function cborLinkTo(target: CID): Promise<{ readonly cid: CID; readonly bytes: Uint8Array }> {
  const bytes = dagCbor.encode({ target })
  return { cid: CID.createV1(dagCbor.code, await sha256.digest(bytes)), bytes }
}
