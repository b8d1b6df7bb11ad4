import { decodeDagPb } from '../links.ts'

/**
 * The Tsize of a dag-pb block: its own bytes, and what its links announce.
 *
 * @returns undefined for a block that is no dag-pb, and for one with a link that announces nothing.
 *
 * @example
 * announcedDagBytes(new Uint8Array([0x0a, 0x02, 0x08, 0x01])) // 4: an empty directory
 */
export function announcedDagBytes(block: Uint8Array): number | undefined {
  const node = decodeDagPb(block)
  if (node === undefined) return undefined
  let dagBytes = block.length
  for (const { Tsize } of node.Links) {
    if (Tsize === undefined) return undefined
    dagBytes += Tsize
  }
  return Number.isSafeInteger(dagBytes) ? dagBytes : undefined
}
