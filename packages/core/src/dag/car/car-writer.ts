import * as dagCbor from '@ipld/dag-cbor'
import type { CID } from 'multiformats/cid'
import { varintBytes } from './varint.ts'

/**
 * The head of a CAR of version 1: the same bytes for the same roots.
 *
 * @see https://ipld.io/specs/transport/car/carv1/
 *
 * @example
 * carHeader([CID.parse('bafkqaaa')]).length // 26
 */
export function carHeader(roots: readonly CID[]): Uint8Array<ArrayBuffer> {
  const header = dagCbor.encode({ roots: [...roots], version: 1 })
  return Uint8Array.from([...varintBytes(header.length), ...header])
}

/**
 * What stands before the bytes of a block in a CAR: the length of the section, and the CID as it is.
 *
 * @param blockBytes - how many bytes the block has.
 */
export function carSection(cid: CID, blockBytes: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([...varintBytes(cid.bytes.length + blockBytes), ...cid.bytes])
}
