import * as z from 'zod'
import {
  bytesField,
  cidField,
  cursorText,
  dealIdField,
  emailField,
  pageLimit,
  statusField,
  syntheticDealIdField,
  termDaysField,
  textOf,
  timeField,
  userIdField,
} from './fields.ts'
import { MAX_COPIES, MAX_DEALS_PER_PAGE, MAX_NONCE_LENGTH } from './limits.ts'

const seenField = timeField.nullable()

const usdcField = (description: string) => z.string().describe(`${description}, in USDC, such as "0.25"`)

/** The onchain deal of one copy, as the marketplace contract has it in final blocks. */
export const dealOnchain = z.object({
  chainId: z.int().describe('Chain of the marketplace contract'),
  contract: z.string().describe('Address of the marketplace contract'),
  dealId: z.string().describe('Number of the deal in this contract'),
  state: z
    .enum(['proposed', 'active', 'ending', 'withdrawn', 'settled', 'slashed'])
    .describe(
      'proposed: not accepted by the prover; active: accepted; ending: active until its notice is over; withdrawn: taken back because nobody accepted it; settled: its term is over; slashed: ended because proofs were missed',
    ),
  endsAt: timeField.nullable().describe('End of its term; null while it is not accepted'),
  escrowed: usdcField('What was put in escrow'),
  paid: usdcField('What of it was paid to the prover'),
  returned: usdcField('What of it came back'),
  bond: usdcField('The bond that the prover put up'),
  forfeited: usdcField('What of the bond came to this service because proofs were missed'),
})
export type DealOnchain = z.infer<typeof dealOnchain>

/** Where one copy of a piece stands, at one prover. */
export const dealCopy = z.object({
  prover: z.string().describe('local, or the URL of a prover'),
  pieceCid: z.string().describe('Piece CID v2 that the prover stores'),
  state: z
    .enum(['pending', 'parked', 'adding', 'stored', 'failed', 'released'])
    .describe(
      'pending: being sent; parked: received; adding: being added to a data set; stored: in a data set, or at local',
    ),
  storedAt: seenField.describe('When it was added to a data set; at local, when it was chosen'),
  provedAt: seenField.describe('Time of the last valid proof; null after an invalid one'),
  retrievableAt: seenField.describe('When bytes were last read back from the prover and matched'),
  endedAt: seenField,
  cause: z.string().nullable().describe('Why it failed'),
  onchainDealId: z.string().nullable().describe('Onchain deal of this copy'),
  onchain: dealOnchain.nullable().describe('State and money of that deal, once its block is final'),
})
export type DealCopy = z.infer<typeof dealCopy>

/** Where a file lies in an aggregate of small files (FRC-0058). */
const dealAggregate = z.object({
  pieceCid: z.string().describe('Piece CID v2 of the aggregate'),
  offset: bytesField.describe('Offset of the file in the bytes of the aggregate'),
  paddedOffset: bytesField.describe('The same offset in padded bytes, as in the index of the aggregate'),
})

/** The CAR of a file at providers that announce its blocks to IPFS. */
const dealIpfs = z.object({
  rootCid: cidField.describe('Root of the DAG, by which the file is found'),
  pieceCid: z.string().describe('Piece CID v2 of the CAR'),
  copies: z.array(dealCopy),
})

/** The storage agreement of one file. */
export const dealEntry = z.object({
  dealId: dealIdField,
  cid: cidField,
  pieceCid: z.string().nullable().describe('Piece CID v2, once the piece commitment is known'),
  size: bytesField.describe('Bytes'),
  status: statusField,
  term: z.string().describe('Human-readable, such as "30 days"'),
  createdAt: timeField,
  expiresAt: timeField,
  endedAt: timeField.nullable().describe('When it expired or was removed, or null'),
  retrievalUrl: z.url(),
  statusAt: timeField.describe('Time of the last change of status'),
  cause: z.string().nullable().describe('Why the status is failed'),
  storedAt: seenField.describe('When provers had stored all of it'),
  provedAt: seenField.describe('When all pieces were last proved; null while one is not'),
  retrievableAt: seenField.describe('When all pieces were last read back from a prover'),
  redundancy: z.int().describe('How many provers should store it'),
  provedCopies: z.int().describe('How many provers have proved that they store all of it'),
  onchainDealId: z.string().nullable().describe('Onchain deal id, once it exists'),
  aggregate: dealAggregate.nullable().describe('Set for a small file that is part of an aggregate'),
  copies: z.array(dealCopy),
  ipfs: dealIpfs
    .nullable()
    .describe('Set for a file whose CAR providers store as well; the status does not depend on it'),
  syntheticDealId: syntheticDealIdField,
})
export type DealEntry = z.infer<typeof dealEntry>

export const dealsQuery = z.object({
  cursor: cursorText.optional(),
  limit: pageLimit(MAX_DEALS_PER_PAGE).optional(),
  status: z
    .string()
    .meta({ enum: statusField.options })
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

/** One of the three; checked by hand, so that the answer says so. */
export const extendRequest = z.object({
  days: termDaysField.optional().describe('Days to add to the term'),
  until: timeField.optional().describe('The deal ends then or up to a day later. It is never shortened'),
  termDays: termDaysField.optional().describe('The whole term from the upload, in days. It is never shortened'),
})
export type ExtendRequest = z.infer<typeof extendRequest>

export const extendHeaders = z.object({
  'idempotency-key': z
    .string()
    .meta({ pattern: '^[!-~]([ -~]{0,253}[!-~])?$' })
    .optional()
    .describe('1 to 255 characters. Requests of a day with the same key extend the deal once'),
})

export const redundancyRequest = z.object({ copies: z.int().min(1).max(MAX_COPIES) })

const hexField = z.string().regex(/^0x[0-9a-f]*$/)

/** That one leaf of a piece is there (PDPVerifier's `Proof`). */
export const leafProof = z.object({
  leafIndex: z.int().min(0),
  leaf: hexField.describe('32 bytes'),
  proof: z
    .array(hexField)
    .readonly()
    .describe('Siblings from the leaf upwards, 32 bytes each, one per level of the piece tree'),
})

const merklePath = z.object({
  position: z.int().describe('Position among the nodes of its height'),
  siblings: z.array(hexField).readonly().describe('Siblings from the bottom up, 32 bytes each'),
})

/** That a small file is in an aggregate, and that the index of the aggregate says where (FRC-0058). */
const inclusionProof = z.object({
  pieceCid: z.string().describe('Piece CID v2 of the file'),
  segment: merklePath.describe('Path from the piece of the file to the root of the aggregate'),
  entry: merklePath.describe('Path from its index entry to the same root'),
})

/** One audit of one copy. */
export const dealAudit = z.object({
  prover: z.string(),
  pieceCid: z.string().describe('Piece CID v2 of the challenged piece: the file, a slice of it, or its aggregate'),
  at: timeField,
  passed: z.boolean(),
  cause: z.string().nullable().describe('Why the audit failed'),
  seed: hexField
    .nullable()
    .describe('Seed that selected the leaves; 32 bytes. Only the last audit of a copy has it, others have null'),
  proofs: z
    .array(leafProof)
    .readonly()
    .nullable()
    .describe(
      'Response of the prover; null if bytes were read back instead, or nothing arrived, and for all but the last audit of a copy',
    ),
})
export type DealAudit = z.infer<typeof dealAudit>

export const dealProofs = z.object({
  dealId: dealIdField,
  syntheticDealId: syntheticDealIdField,
  aggregate: z.string().nullable().describe('Piece CID v2 of the aggregate of the file'),
  inclusion: inclusionProof.nullable().describe('Set for a file in an aggregate'),
  audits: z.array(dealAudit).describe('Newest first; at most 30 per copy'),
})
export type DealProofs = z.infer<typeof dealProofs>

export const challengeRequest = z.object({
  nonce: textOf(MAX_NONCE_LENGTH, 1).describe('Any text that the prover could not know in advance'),
})

export const challengeResult = z.object({
  cid: cidField,
  nonce: z.string(),
  seed: hexField.describe('SHA-256 of "lade possession", a zero byte and the nonce'),
  prover: z.string(),
  pieceCid: z.string().describe('Piece CID v2 of the challenged piece: the file, a slice of it, or its aggregate'),
  height: z.int().describe('Height of the piece tree'),
  proofs: z.array(leafProof).readonly(),
  inclusion: inclusionProof.nullable().describe('Set for a file in an aggregate'),
})
export type ChallengeResult = z.infer<typeof challengeResult>
