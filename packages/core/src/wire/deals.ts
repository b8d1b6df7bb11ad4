import * as z from 'zod'
import { bytesField, cidField, emailField, statusField, timeField, userIdField } from './fields.ts'
import { MAX_COPIES, MAX_DEALS_PER_PAGE, MAX_NONCE_LENGTH } from './limits.ts'

const seenField = timeField.nullable()

/** Where one copy of a piece stands, at one prover. */
export const dealCopy = z.object({
  prover: z.string().describe('local, or the address of a provider'),
  pieceCid: z.string().describe('Piece CID v2 of what the prover holds'),
  state: z
    .enum(['pending', 'parked', 'adding', 'stored', 'failed', 'released'])
    .describe('pending: being sent; parked: there; adding, stored: being taken into a data set, and in it'),
  storedAt: seenField.describe('When its data set had it'),
  provedAt: seenField.describe('When a proof last held; null after one that did not'),
  retrievableAt: seenField.describe('When bytes of it were last read from the prover and were right'),
  endedAt: seenField,
  cause: z.string().nullable().describe('Why it failed'),
  onchainDealId: z.string().nullable().describe('The deal about this copy on the chain'),
})
export type DealCopy = z.infer<typeof dealCopy>

/** Where a file lies in an aggregate of small files (FRC-0058). */
export const dealAggregate = z.object({
  pieceCid: z.string().describe('Piece CID v2 of the aggregate'),
  offset: bytesField.describe("Where the file's bytes begin in those of the aggregate"),
  paddedOffset: bytesField.describe('The same in padded bytes, as the index of the aggregate has it'),
})

/** The storage agreement of one file. */
export const dealEntry = z.object({
  dealId: z.string().describe('Synthetic ids are d-0x and hex'),
  cid: cidField,
  pieceCid: z.string().nullable().describe('Piece CID v2, once the piece commitment is known'),
  size: bytesField.describe('Bytes'),
  status: statusField,
  term: z.string().describe('Human-readable, such as "30 days"'),
  createdAt: timeField,
  expiresAt: timeField,
  endedAt: timeField.nullable().describe('When it expired or was removed; null until then'),
  retrievalUrl: z.url(),
  statusAt: timeField.describe('Since when the status is what it is'),
  cause: z.string().nullable().describe('Why the status is failed'),
  storedAt: seenField.describe('Since when a prover has stored all of it'),
  provedAt: seenField.describe('When every piece of it was last proved; null while one is not'),
  retrievableAt: seenField.describe('When every piece of it was last read from a prover'),
  redundancy: z.int().describe('How many provers are to hold it'),
  provedCopies: z.int().describe('How many provers have proved that they hold all of it'),
  onchainDealId: z.string().nullable().describe('The deal on the chain, once it is there'),
  aggregate: dealAggregate.nullable().describe('Set for a small file that is held as a part of an aggregate'),
  copies: z.array(dealCopy),
})
export type DealEntry = z.infer<typeof dealEntry>

export const dealsQuery = z.object({
  cursor: z.string().max(64).optional().describe('nextCursor of the page before'),
  limit: z.string().optional().describe(`1 to ${MAX_DEALS_PER_PAGE}; 100 by default`),
  status: z
    .string()
    .optional()
    .describe(`${statusField.options.join(', ')}; all of them by default`),
  token: z.string().optional().describe('Deprecated form of the Authorization header'),
})

export const dealList = z.object({
  userId: userIdField,
  email: emailField,
  count: z.int().describe('Deals on this page'),
  deals: z.array(dealEntry),
  nextCursor: z.string().nullable(),
})
export type DealList = z.infer<typeof dealList>

export const extendRequest = z.object({ days: z.int().min(1).max(36_500).describe('Days to add to the term') })
export const redundancyRequest = z.object({ copies: z.int().min(1).max(MAX_COPIES) })

const hexField = z.string().regex(/^0x[0-9a-f]*$/)

/** That one leaf of a piece is there (PDPVerifier's `Proof`). */
export const leafProof = z.object({
  leafIndex: z.int().min(0),
  leaf: hexField.describe('32 bytes'),
  proof: z
    .array(hexField)
    .readonly()
    .describe("The siblings from the leaf upwards, 32 bytes each, as many as the piece's tree is high"),
})

const merklePath = z.object({
  position: z.int().describe('Among the nodes of its height'),
  siblings: z.array(hexField).readonly().describe('From below upwards, 32 bytes each'),
})

/** That a small file is in an aggregate, and that the index of the aggregate says where (FRC-0058). */
export const inclusionProof = z.object({
  pieceCid: z.string().describe('Piece CID v2 of the file by itself'),
  segment: merklePath.describe("From the file's piece to the root of the aggregate"),
  entry: merklePath.describe('From its entry of the index to the same root'),
})

/** One audit of one copy. */
export const dealAudit = z.object({
  prover: z.string(),
  pieceCid: z.string().describe('Piece CID v2 of what was challenged: the file, a slice of it, or its aggregate'),
  at: timeField,
  passed: z.boolean(),
  cause: z.string().nullable().describe('Why it did not'),
  seed: hexField.describe('What chose the leaves; 32 bytes'),
  proofs: z
    .array(leafProof)
    .readonly()
    .nullable()
    .describe('What the prover answered; null where bytes were read instead, or nothing came'),
})
export type DealAudit = z.infer<typeof dealAudit>

export const dealProofs = z.object({
  dealId: z.string(),
  aggregate: z.string().nullable().describe('Piece CID v2 of the aggregate that the file is in'),
  inclusion: inclusionProof.nullable().describe('Set for a file in an aggregate'),
  audits: z.array(dealAudit).describe('Newest first; the last 30 of each copy at most'),
})
export type DealProofs = z.infer<typeof dealProofs>

export const challengeRequest = z.object({
  nonce: z.string().min(1).max(MAX_NONCE_LENGTH).describe('Anything that the prover could not know before'),
})

export const challengeResult = z.object({
  cid: cidField,
  nonce: z.string(),
  seed: hexField.describe('sha2-256 of "lade possession", a zero byte and the nonce'),
  prover: z.string(),
  pieceCid: z.string().describe('Piece CID v2 of what was challenged: the file, a slice of it, or its aggregate'),
  height: z.int().describe("Of the piece's tree"),
  proofs: z.array(leafProof).readonly(),
  inclusion: inclusionProof.nullable().describe('Set for a file in an aggregate'),
})
export type ChallengeResult = z.infer<typeof challengeResult>
