import type { CID } from 'multiformats/cid'
import { inlineBytes } from '../links.ts'
import { DagReadError } from './dag-read-error.ts'

/** Finds the bytes of a block, which are trusted to be what its CID says; undefined when it is not there. */
export type GetBlock = (cid: CID) => Promise<Uint8Array | undefined>

/** A block by its CID, as it was linked to. */
export interface Block {
  readonly cid: CID
  readonly bytes: Uint8Array
}

/**
 * The block of a CID: its own bytes where it carries them, else what `getBlock` finds.
 *
 * @throws {DagReadError} `missing`.
 */
export async function loadBlock(cid: CID, getBlock: GetBlock): Promise<Block> {
  const bytes = inlineBytes(cid) ?? (await getBlock(cid))
  if (bytes === undefined) throw new DagReadError('missing', cid)
  return { cid, bytes }
}
