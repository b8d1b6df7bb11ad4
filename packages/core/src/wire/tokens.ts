import * as z from 'zod'
import { scopesField, timeField } from './fields.ts'
import { DEFAULT_TOKEN_DAYS } from './limits.ts'

/** Field rules with a code of their own are checked by the use case; this shape is for the reader and the client. */
export const signupRequest = z.object({
  email: z.string().describe('Where the user can be reached; hashed into the user id'),
  label: z.string().min(1).max(100).describe('A name for the token'),
  scopes: scopesField.optional().describe('May only narrow; all four by default'),
  quotaMb: z.int().min(0).optional().describe('May only lower the daily quota'),
  ttlDays: z.int().min(1).max(DEFAULT_TOKEN_DAYS).optional().describe('May only shorten the lifetime'),
})
export type SignupRequest = z.infer<typeof signupRequest>

export const signupResult = z.object({
  token: z.string().describe('pk_live_ and a JWT; shown only in this response'),
  userId: z.string(),
  email: z.string(),
  scopes: scopesField,
  quotaMb: z.int(),
  expiresAt: timeField,
})
export type SignupResult = z.infer<typeof signupResult>

export const tokenEntry = z.object({
  jti: z.uuid(),
  label: z.string(),
  scopes: scopesField,
  quotaMb: z.int(),
  issuedAt: timeField,
  expiresAt: timeField,
  lastUsedAt: timeField.nullable(),
  revokedAt: timeField.nullable(),
  current: z.boolean().describe('True for the token that asked'),
})
export const tokenList = z.object({ tokens: z.array(tokenEntry) })
export type TokenList = z.infer<typeof tokenList>

export const revokeRequest = z.object({ jti: z.uuid().describe('The id of the token to revoke') })
export const revokeResult = z.object({ jti: z.uuid(), revokedAt: timeField })
export type RevokeResult = z.infer<typeof revokeResult>
