import { createHash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { CID, varint } from 'multiformats'

/** True when the answer to `POST /p/{cid}/challenge` shows that whoever made it had the piece after you had chosen the nonce. */
export function showsPossession(pieceCid, nonce, { proofs }) {
  // A piece CID of version 2 says how many zeros fill its tree, how high it is, and its root (FRC-0069).
  const { digest } = CID.parse(pieceCid).multihash
  const [padding, read] = varint.decode(digest)
  const height = digest[read]
  const leaves = 2 ** height - Math.floor(Math.floor((128 * padding) / 127) / 32)
  const seed = createHash('sha256').update(`lade possession\0${nonce}`).digest()
  return (
    proofs.length === 5 &&
    proofs.every(({ leafIndex, leaf, proof }, number) => {
      // The nonce chooses the leaf, as PDPVerifier does it: keccak256(seed ‖ uint256(0) ‖ uint64(number)) mod leaves.
      const chosen = keccak_256(Buffer.concat([seed, Buffer.alloc(39), Buffer.of(number)]))
      if (BigInt(hex(chosen)) % BigInt(leaves) !== BigInt(leafIndex) || proof.length !== height) return false
      const root = proof.reduce((node, sibling, level) => {
        const isRight = Math.floor(leafIndex / 2 ** level) % 2 === 1
        const hash = createHash('sha256')
          .update(isRight ? bytes(sibling) : node)
          .update(isRight ? node : bytes(sibling))
          .digest()
        hash[31] &= 0x3f
        return hash
      }, bytes(leaf))
      return root.equals(digest.subarray(read + 1))
    })
  )
}

const bytes = (text) => Buffer.from(text.slice(2), 'hex')
const hex = (array) => `0x${Buffer.from(array).toString('hex')}`
