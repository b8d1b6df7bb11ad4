import type { CID } from 'multiformats/cid'

/**
 * Why a DAG cannot be read any further. `missing`: the block is not there. `undecodable`: its bytes are not of its codec.
 * `unsupported`: its codec is not read here. `excessive`: it has more links or parts than a block of a CAR may have. `not-a-file`:
 * bytes are asked of something that has none. `inconsistent`: a part of a file is not what the parts above it announce.
 */
export type DagReadFault = 'missing' | 'undecodable' | 'unsupported' | 'excessive' | 'not-a-file' | 'inconsistent'

const MAX_SHOWN_DIGEST_BYTES = 1024

const SENTENCES: Readonly<Record<DagReadFault, string>> = {
  missing: 'is not stored here',
  undecodable: 'does not decode as the codec of its CID',
  unsupported: 'has an unsupported codec',
  excessive: 'has too many links, maps, lists or byte strings',
  'not-a-file': 'is not a UnixFS file',
  inconsistent: 'does not match the file that links to it',
}

/**
 * A DAG that cannot be read to its end, and the block at which it stops.
 *
 * @example
 * new DagReadError('missing', cid).message // 'The block bafkrei… is not here.'
 */
export class DagReadError extends Error {
  override readonly name = 'DagReadError'
  readonly fault: DagReadFault
  readonly cid: CID

  constructor(fault: DagReadFault, cid: CID) {
    super(`${nameOf(cid)} ${SENTENCES[fault]}.`)
    this.fault = fault
    this.cid = cid
  }
}

/** A CID can be as long as the block that links to it, and base58 takes the square of that in time. */
function nameOf(cid: CID): string {
  const { length } = cid.multihash.digest
  return length > MAX_SHOWN_DIGEST_BYTES ? `A block whose CID has ${length} bytes of digest` : `The block ${cid}`
}
