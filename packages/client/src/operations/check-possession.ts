import { type ContentId, parseContentId } from '@lade/core/content'
import type { Sha256 } from '@lade/core/dag/import'
import { LadeError } from '@lade/core/errors'
import {
  challengeIndex,
  leafCount,
  type MerklePath,
  type PieceCommitment,
  paddingBytes,
  pieceHeight,
  readPieceCid,
  verifyInclusion,
  verifyLeafProof,
} from '@lade/core/piece'
import { bytesToHex } from '@noble/hashes/utils.js'
import { base16 } from 'multiformats/bases/base16'
import type { CheckedChallenge } from '../options.ts'

/** Of one challenge; as many as `PDPVerifier` asks for (`CHALLENGES_PER_PROOF`). */
const PROOFS = 5
/** What the seed is made of besides the nonce. */
const DOMAIN = 'lade possession\0'
/** No file of up to 254 MiB is handed to provers in several pieces. */
const LARGEST_UNCUT_BYTES = 2 * 127 * 1024 * 1024
const NODE = /^0x[0-9a-f]{64}$/

/** What a proof of possession must answer. */
export interface AskedPossession {
  readonly id: ContentId
  readonly nonce: string
  readonly sha256: Sha256
}

/**
 * Checks what was answered to a challenge, of which anything may be made up.
 *
 * @throws {LadeError} `unexpected_answer`, whose reason says what does not hold.
 * @see docs/protocol/deals.md
 */
export function checkPossession(
  answer: unknown,
  { id, nonce, sha256 }: AskedPossession,
): Pick<CheckedChallenge, 'pieceCid' | 'isPieceOfCid'> {
  const { pieceCid, inclusion, proofs, ...said } = fieldsOf(answer)
  const seed = sha256.of(new TextEncoder().encode(`${DOMAIN}${nonce}`))
  const challenged = pieceOf(pieceCid, sha256)
  const height = pieceHeight(challenged.rawSizeBytes)
  const isToThisNonce = said.nonce === nonce && said.seed === `0x${bytesToHex(seed)}` && said.height === height
  if (!isToThisNonce) throw flawed('It is for another nonce.')
  checkLeaves(proofs, challenged, seed)
  const shown = inclusion === null ? challenged : includedPiece(inclusion, challenged, sha256)
  return { pieceCid: shown.id.text, isPieceOfCid: isPieceOf(id, shown, inclusion !== null) }
}

/** A piece CID of version 2, read. */
interface NamedPiece extends PieceCommitment {
  readonly id: ContentId
}

/** That the nonce chose these leaves, and that each is in the piece. */
function checkLeaves(proofs: unknown, { root, rawSizeBytes }: PieceCommitment, seed: Uint8Array): void {
  const challengeRange = BigInt(leafCount(rawSizeBytes))
  if (challengeRange === 0n || !Array.isArray(proofs) || proofs.length !== PROOFS) {
    throw flawed(`It must contain ${PROOFS} leaf proofs.`)
  }
  for (const [proofIndex, proof] of proofs.entries()) {
    const given = fieldsOf(proof)
    const leafIndex = Number(challengeIndex({ seed, dataSetId: 0n, proofIndex, challengeRange }))
    if (given.leafIndex !== leafIndex) throw flawed('A leaf proof is for a leaf that the nonce does not select.')
    const height = pieceHeight(rawSizeBytes)
    const isThere = verifyLeafProof({ root, height, leafIndex, leaf: nodeOf(given.leaf), proof: nodesOf(given.proof) })
    if (!isThere) throw flawed('A leaf proof does not lead to the root of the piece.')
  }
}

/** The file's own piece, once it is shown to be in the aggregate. */
function includedPiece(inclusion: unknown, aggregate: PieceCommitment, sha256: Sha256): NamedPiece {
  // The proofs are for the size that the answer claims. A smaller one in the same tree leaves out the last leaves, and the file with them.
  if (paddingBytes(aggregate.rawSizeBytes) !== 0)
    throw flawed('Its aggregate has an impossible size, so the proof may leave out the file.')
  const { pieceCid, segment, entry } = fieldsOf(inclusion)
  const piece = pieceOf(pieceCid, sha256)
  const proof = { segment: pathOf(segment), entry: pathOf(entry) }
  if (!verifyInclusion({ aggregate, piece, proof })) throw flawed('The file is not in the aggregate that was proved.')
  return piece
}

/**
 * True when the id is that of the piece. Only a piece CID of version 2 says which piece it names: one of version 1 leaves the size open, so that
 * nodes of the tree could be passed off as its leaves, and other ids are made from other trees.
 */
function isPieceOf(id: ContentId, shown: NamedPiece, isAggregated: boolean): boolean {
  if (id.form !== 'piece-v2') return false
  if (id.key === shown.id.key) return true
  const { rawSizeBytes } = commitmentOf(id) ?? shown
  const mayBeSlice = !isAggregated && rawSizeBytes > LARGEST_UNCUT_BYTES && shown.rawSizeBytes < rawSizeBytes
  if (!mayBeSlice) throw flawed('It is for another piece.')
  return false
}

function pieceOf(text: unknown, sha256: Sha256): NamedPiece {
  const id = idOf(text, sha256)
  const commitment = id && commitmentOf(id)
  if (id === undefined || commitment === undefined) throw flawed('It does not name a piece.')
  return { id, ...commitment }
}

function idOf(text: unknown, sha256: Sha256): ContentId | undefined {
  try {
    return typeof text === 'string' ? parseContentId(text, (bytes) => bytesToHex(sha256.of(bytes))) : undefined
  } catch (error) {
    if (LadeError.has(error, 'invalid_cid')) return undefined
    throw error
  }
}

function commitmentOf({ cid }: ContentId): PieceCommitment | undefined {
  const read = cid && readPieceCid(cid)
  return read !== undefined && 'rawSizeBytes' in read ? read : undefined
}

function pathOf(value: unknown): MerklePath {
  const { position, siblings } = fieldsOf(value)
  return { position: typeof position === 'number' ? position : Number.NaN, siblings: nodesOf(siblings) }
}

function nodesOf(value: unknown): Uint8Array[] {
  if (!Array.isArray(value)) throw flawed('It has an unexpected form.')
  return value.map(nodeOf)
}

function nodeOf(value: unknown): Uint8Array {
  if (typeof value !== 'string' || !NODE.test(value)) throw flawed('It has an unexpected form.')
  return base16.baseDecode(value.slice(2))
}

function fieldsOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw flawed('It has an unexpected form.')
  return value as Record<string, unknown>
}

function flawed(reason: string): LadeError<'unexpected_answer'> {
  return new LadeError('unexpected_answer', { httpStatus: 200, reason: `The proof is invalid. ${reason}` })
}
