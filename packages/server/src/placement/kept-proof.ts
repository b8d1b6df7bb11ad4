import type { PossessionProof } from '../proving/prover.ts'

const PROOFS = 1
const NODE_BYTES = 32
const NUMBER_BYTES = 8

/**
 * The proofs of an audit as they are kept: after a byte 1 and a byte for their number, of each the number of its leaf (64 bits), a byte for
 * the number of its siblings, a bit for each node from the leaf upwards, and the nodes whose bit is 0. A bit is 1 where an earlier proof had
 * the same node at the same place.
 */
export function encodeProofs(proofs: readonly PossessionProof[]): Uint8Array {
  const known = new Map<string, Uint8Array>()
  const parts: Uint8Array[] = [Uint8Array.of(PROOFS, proofs.length)]
  for (const { leafIndex, leaf, proof } of proofs) {
    const nodes = [leaf, ...proof]
    const mask = new Uint8Array(maskBytes(nodes.length))
    const news = nodes.filter((node, height) => {
      const place = placeOf(leafIndex, height)
      const earlier = known.get(place)
      known.set(place, node)
      if (earlier === undefined || Buffer.compare(earlier, node) !== 0) return true
      setBit(mask, height)
      return false
    })
    parts.push(numberBytes(leafIndex), Uint8Array.of(proof.length), mask, ...news)
  }
  return Buffer.concat(parts)
}

/** Undefined for what an older version kept: JSON. */
export function decodeProofs(kept: Uint8Array): PossessionProof[] | undefined {
  const bytes = Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength)
  if (bytes[0] !== PROOFS) return undefined
  const known = new Map<string, Uint8Array>()
  const proofs: PossessionProof[] = []
  let from = 2
  for (let index = 0; index < (bytes[1] ?? 0); index += 1) {
    const leafIndex = Number(bytes.readBigUInt64BE(from))
    const nodeCount = 1 + bytes.readUInt8(from + NUMBER_BYTES)
    from += NUMBER_BYTES + 1
    const mask = bytes.subarray(from, from + maskBytes(nodeCount))
    from += mask.length
    const nodes: Uint8Array[] = []
    for (let height = 0; height < nodeCount; height += 1) {
      const place = placeOf(leafIndex, height)
      const earlier = hasBit(mask, height) ? known.get(place) : undefined
      const node = earlier ?? bytes.subarray(from, from + NODE_BYTES)
      if (earlier === undefined) from += NODE_BYTES
      known.set(place, node)
      nodes.push(node)
    }
    const [leaf = new Uint8Array(), ...proof] = nodes
    proofs.push({ leafIndex, leaf, proof })
  }
  return proofs
}

/** Where the tree has a node of a proof: its leaf at height 0, and behind it the sibling of each height, from the leaf's own on. */
function placeOf(leafIndex: number, index: number): string {
  if (index === 0) return `0 ${leafIndex}`
  const position = Math.floor(leafIndex / 2 ** (index - 1))
  return `${index - 1} ${position % 2 === 0 ? position + 1 : position - 1}`
}

function numberBytes(value: number): Uint8Array {
  const bytes = Buffer.alloc(NUMBER_BYTES)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

const maskBytes = (nodes: number): number => Math.ceil(nodes / 8)

function setBit(mask: Uint8Array, bit: number): void {
  mask[bit >> 3] = (mask[bit >> 3] ?? 0) | (1 << (bit & 7))
}

const hasBit = (mask: Uint8Array, bit: number): boolean => ((mask[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0
