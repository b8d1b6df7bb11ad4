import { createHash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { CID, varint } from 'multiformats'

/**
 * True when the answer to `POST /p/{cid}/challenge` shows that somebody had `pieceCid`, or an aggregate with it, after you chose the nonce.
 *
 * Compute `pieceCid` from your own bytes: the answer may name any piece.
 */
export function showsPossession(pieceCid, nonce, answer) {
  const challenged = readPieceCid(answer.pieceCid)
  const holdsThePiece =
    answer.inclusion === null
      ? answer.pieceCid === pieceCid
      : answer.inclusion.pieceCid === pieceCid && isIncluded(readPieceCid(pieceCid), challenged, answer.inclusion)
  return holdsThePiece && provesLeaves(challenged, nonce, answer.proofs)
}

/** A piece CID of version 2 says how many zeros fill its tree, how high it is, and its root (FRC-0069). */
function readPieceCid(pieceCid) {
  const { digest } = CID.parse(pieceCid).multihash
  const [padding, read] = varint.decode(digest)
  return { padding, height: digest[read], root: Buffer.from(digest.subarray(read + 1)) }
}

/** The nonce chooses the leaves, as PDPVerifier does it: keccak256(seed ‖ uint256(0) ‖ uint64(number)) mod leaves. */
function provesLeaves({ padding, height, root }, nonce, proofs) {
  const leaves = 2 ** height - Math.floor(Math.floor((128 * padding) / 127) / 32)
  const seed = createHash('sha256').update(`lade possession\0${nonce}`).digest()
  return (
    proofs.length === 5 &&
    proofs.every(({ leafIndex, leaf, proof }, number) => {
      const chosen = keccak_256(Buffer.concat([seed, Buffer.alloc(39), Buffer.of(number)]))
      return (
        BigInt(hex(chosen)) % BigInt(leaves) === BigInt(leafIndex) &&
        proof.length === height &&
        climb(bytes(leaf), leafIndex, proof).equals(root)
      )
    })
  )
}

/** The piece is at `segment` of the aggregate, and an entry of the index at the aggregate's end says so (FRC-0058). */
function isIncluded(piece, aggregate, { segment, entry }) {
  const size = 32 * 2 ** piece.height
  const description = Buffer.alloc(64)
  piece.root.copy(description)
  description.writeBigUInt64LE(BigInt(segment.position * size), 32)
  description.writeBigUInt64LE(BigInt(size), 40)
  const checksum = createHash('sha256').update(description).digest().subarray(0, 16)
  checksum[15] &= 0x3f
  checksum.copy(description, 48)
  const indexEntries = Math.max(4, 2 ** aggregate.height / 4096)
  return (
    // An aggregate ends with its index. One with padding claims less than it is, so that its last leaves are never chosen.
    aggregate.padding === 0 &&
    segment.siblings.length === aggregate.height - piece.height &&
    entry.siblings.length === aggregate.height - 1 &&
    segment.position < 2 ** segment.siblings.length &&
    entry.position < 2 ** entry.siblings.length &&
    entry.position >= 2 ** entry.siblings.length - indexEntries &&
    climb(piece.root, segment.position, segment.siblings).equals(aggregate.root) &&
    climb(parent(description), entry.position, entry.siblings).equals(aggregate.root)
  )
}

/** The root that a node leads to: its position says on which side each sibling is. */
function climb(node, position, siblings) {
  return siblings.reduce((below, sibling, level) => {
    const isRight = Math.floor(position / 2 ** level) % 2 === 1
    return parent(isRight ? Buffer.concat([bytes(sibling), below]) : Buffer.concat([below, bytes(sibling)]))
  }, node)
}

function parent(children) {
  const node = createHash('sha256').update(children).digest()
  node[31] &= 0x3f
  return node
}

const bytes = (text) => Buffer.from(text.slice(2), 'hex')
const hex = (array) => `0x${Buffer.from(array).toString('hex')}`
