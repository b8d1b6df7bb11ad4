import * as z from 'zod'
import { bytesField, cidField, statusField, timeField } from './fields.ts'
import { MAX_DEALS_PER_PAGE } from './limits.ts'

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
})
export type DealEntry = z.infer<typeof dealEntry>

export const dealsQuery = z.object({
  cursor: z.string().max(64).optional().describe('nextCursor of the page before'),
  limit: z.string().optional().describe(`1 to ${MAX_DEALS_PER_PAGE}; 100 by default`),
  status: z.string().optional().describe('staged, expired or removed; all of them by default'),
  token: z.string().optional().describe('Deprecated form of the Authorization header'),
})

export const dealList = z.object({
  userId: z.string(),
  email: z.string(),
  count: z.int().describe('Deals on this page'),
  deals: z.array(dealEntry),
  nextCursor: z.string().nullable(),
})
export type DealList = z.infer<typeof dealList>
