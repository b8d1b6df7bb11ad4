import * as z from 'zod'
import { scopesField, textOf, timeField, tokenScopesField } from './fields.ts'
import { DEFAULT_TOKEN_DAYS } from './limits.ts'
import { EMAIL_PATTERN, LABEL_PATTERN } from './patterns.ts'

/** How a service may sign tokens (RFC 7518): with a secret of its own, or with a key pair whose public half it publishes. */
export const TOKEN_ALGS = ['HS256', 'RS256'] as const
export type TokenAlg = (typeof TOKEN_ALGS)[number]

/** Field rules with a code of their own are checked by the use case; this shape is for the reader and the client. */
export const signupRequest = z.object({
  email: z
    .string()
    .meta({ format: 'email', maxLength: 254, pattern: EMAIL_PATTERN, examples: ['ada@example.org'] })
    .describe('Email address of the user; its hash is the user id'),
  label: textOf(100, 1)
    .meta({ pattern: LABEL_PATTERN, examples: ['laptop'] })
    .describe('A name for the token'),
  scopes: scopesField.optional().describe('A subset of the default, which is all four'),
  quotaMb: z.int().min(0).optional().describe('Can only lower the daily quota'),
  ttlDays: z.int().min(1).max(DEFAULT_TOKEN_DAYS).optional().describe('Can only shorten the lifetime'),
})
export type SignupRequest = z.infer<typeof signupRequest>

export const signupResult = z.object({
  token: z.string().describe('pk_live_ followed by a JWT; shown only in this response'),
  userId: z.string(),
  email: z.string(),
  scopes: scopesField,
  quotaMb: z.int(),
  expiresAt: timeField,
})
export type SignupResult = z.infer<typeof signupResult>

/** The first step where signup goes by mail. */
export const startRequest = signupRequest.pick({ email: true, label: true })
export type StartRequest = z.infer<typeof startRequest>

export const startResult = z.object({
  sent: z.literal(true),
  email: z.string().optional().describe('The address that the code was mailed to'),
  expiresIn: z.int().describe('Seconds for which the code is valid'),
  challenge: z.string().describe('Send it back with the code; shown only in this response'),
})
export type StartResult = z.infer<typeof startResult>

/** The second step. What is asked of the token is asked here; its label was given with the first step. */
export const verifyRequest = signupRequest.omit({ email: true, label: true }).extend({
  challenge: textOf(100).optional().describe('The challenge from /api/auth/start'),
  email: z
    .string()
    .optional()
    .describe(
      'Instead of the challenge: the address of the code. Works only from the IP address that requested the code',
    ),
  code: textOf(100).describe('The six digits from the mail; spaces and hyphens are ignored'),
})
export type VerifyRequest = z.infer<typeof verifyRequest>

/** RFC 7517: the public keys that tokens are signed with. */
export const jwksResult = z.object({
  keys: z.array(
    z.object({
      kty: z.literal('RSA'),
      use: z.literal('sig'),
      alg: z.literal('RS256'),
      kid: z.string(),
      n: z.string(),
      e: z.string(),
    }),
  ),
})
export const tokenEntry = z.object({
  jti: z.uuid(),
  label: z.string().describe('Empty for a token that was minted elsewhere without a label'),
  scopes: tokenScopesField,
  quotaMb: z.int().nullable().describe('null for a wallet, whose balance is its quota'),
  issuedAt: timeField,
  createdAt: timeField.optional().describe('The same as issuedAt'),
  expiresAt: timeField,
  lastUsedAt: timeField.nullable(),
  revokedAt: timeField.nullable(),
  current: z.boolean().describe('True for the token of this request'),
  isCurrent: z.boolean().optional().describe('The same as current'),
})
export const tokenList = z.object({ tokens: z.array(tokenEntry) })
export type TokenList = z.infer<typeof tokenList>

export const revokeRequest = z.object({
  jti: z.uuid().describe('The id of the token to revoke'),
  keepLinks: z.boolean().optional().describe('true: keep the share links of the token; default false'),
})
export const revokeResult = z.object({ jti: z.uuid(), revokedAt: timeField })
export type RevokeResult = z.infer<typeof revokeResult>
