import { type Block, type CarIndex, carHeader, carSection } from '@lade/core/dag'
import type { CID } from 'multiformats/cid'

/** The blocks of directories as one CAR, which is the object of their folder. */
export interface DirectoryCar {
  readonly bytes: Buffer
  readonly index: CarIndex
}

/**
 * Puts blocks of directories into a CAR of version 1, in their order. Each has been hashed when it was made, and its CID is that hash: the
 * index says of the CAR what reading it would.
 *
 * @param folder - what is in the directory.
 * @see https://ipld.io/specs/transport/car/carv1/
 *
 * @example
 * directoryCar(root, blocks, { files: 2, bytes: 14 }).index.blockCount // 3
 */
export function directoryCar(root: CID, blocks: readonly Block[], folder: CarIndex['folder']): DirectoryCar {
  const pieces: Uint8Array[] = [carHeader([root])]
  let length = pieces[0]?.length ?? 0
  const multihashes: Uint8Array[] = []
  const multihashEnds = new Uint32Array(blocks.length)
  const offsetBytes = new Float64Array(blocks.length)
  const sizeBytes = new Uint32Array(blocks.length)
  let multihashEnd = 0
  for (const [place, { cid, bytes }] of blocks.entries()) {
    const section = carSection(cid, bytes.length)
    pieces.push(section, bytes)
    multihashes.push(cid.multihash.bytes)
    multihashEnd += cid.multihash.bytes.length
    multihashEnds[place] = multihashEnd
    offsetBytes[place] = length + section.length
    sizeBytes[place] = bytes.length
    length += section.length + bytes.length
  }
  const names = new Uint8Array(multihashEnd)
  let at = 0
  for (const multihash of multihashes) {
    names.set(multihash, at)
    at += multihash.length
  }
  return {
    bytes: Buffer.concat(pieces, length),
    index: {
      root: 'other',
      fileSizeBytes: undefined,
      folder,
      blockCount: blocks.length,
      multihashes: names,
      multihashEnds,
      offsetBytes,
      sizeBytes,
    },
  }
}
