import * as z from 'zod'
import { emailField, ownerField, textOf, timeField, tokenScopesField, userIdField } from './fields.ts'
import { walletVerifyRequest } from './wallets.ts'

/** How somebody signs in with a browser. */
export const SESSION_WAYS = ['email', 'code', 'wallet', 'token'] as const
export type SessionWay = (typeof SESSION_WAYS)[number]

/** Which fields belong together is checked by hand, to be refused in a sentence. */
export const sessionRequest = z.object({
  token: z.string().optional().describe('A token of this service: the session has its rights and ends with it'),
  email: z
    .string()
    .optional()
    .describe('Alone where signup is open; with code, the address that the code was mailed to'),
  challenge: textOf(100).optional().describe('The challenge from /api/auth/start; sent with code'),
  code: textOf(100).optional().describe('The six digits from the mail'),
  message: walletVerifyRequest.shape.message.optional(),
  signature: walletVerifyRequest.shape.signature.optional(),
})
export type SessionRequest = z.infer<typeof sessionRequest>

export const session = z.object({
  id: z.uuid(),
  via: z.enum(SESSION_WAYS).describe('How the user signed in'),
  userId: userIdField,
  email: emailField,
  owner: ownerField.describe('Email of the user, or address of the wallet'),
  scopes: tokenScopesField.describe('admin only in a session that was made from a token with it'),
  quotaMb: z.int().nullable().describe('null for a wallet, whose balance is its quota'),
  createdAt: timeField,
  lastUsedAt: timeField,
  expiresAt: timeField.describe('Each use moves it: 12 hours after the last one, or the end of the token'),
  current: z.boolean().describe('True for the session of this request'),
  jti: z.uuid().nullable().describe('The token that the session was made from; null for other sessions'),
})
export type Session = z.infer<typeof session>

export const sessionResult = z.object({ session })
export type SessionResult = z.infer<typeof sessionResult>

export const sessionState = z.object({
  session: session.nullable().describe('null without a session'),
  signIn: z.array(z.enum(SESSION_WAYS)).describe('Ways to sign in to this service'),
})
export type SessionState = z.infer<typeof sessionState>

export const signOutResult = z.object({ session: z.null() })

export const sessionList = z.object({ sessions: z.array(session) })
export type SessionList = z.infer<typeof sessionList>

export const endSessionResult = z.object({ id: z.uuid(), endedAt: timeField })
export type EndSessionResult = z.infer<typeof endSessionResult>
