import { hashPair, portableHashPairs } from './hash-pairs.ts'
import { NODE_BYTES } from './piece-size.ts'

/** Well above the height of any piece. */
const MAX_HEIGHT = 63

let byHeight: readonly Uint8Array[] | undefined

/**
 * The root of a tree of zeros: 32 zero bytes at height 0, and above that the parent of two of the height below.
 *
 * All of them are computed at the first call.
 *
 * @param height - 0 to 63.
 * @returns 32 bytes of the caller's own.
 * @throws {TypeError} when the height is out of range.
 */
export function zeroCommitment(height: number): Uint8Array {
  byHeight ??= computeByHeight()
  const commitment = byHeight[height]
  if (commitment === undefined) throw new TypeError(`${height} is not the height of a tree`)
  return commitment.slice()
}

function computeByHeight(): Uint8Array[] {
  let node: Uint8Array = new Uint8Array(NODE_BYTES)
  const commitments = [node]
  while (commitments.length <= MAX_HEIGHT) {
    node = hashPair(node, node, portableHashPairs)
    commitments.push(node)
  }
  return commitments
}
