import { isChecksummedAddress, SCOPES } from '@lade/core/wire'
import { z } from 'zod'
import { type TokenClaims, TokenClaimsSchema } from './token-claims.ts'

/** What the `sub` of a wallet begins with (CAIP-2); a user id is hex. */
const NAMESPACE = 'eip155:'

/** CAIP-10: the namespace, the chain id, the account in the mixed case of EIP-55. */
const SUBJECT = /^eip155:(?:[1-9]\d{0,15}):(0x[0-9a-fA-F]{40})$/

const { iat, exp, jti } = TokenClaimsSchema.unwrap().shape

/**
 * The claims of the token that a sign-in by wallet gives. It has no email and no quota, which are what every token of a user
 * must have, and its `sub` is none of a user: neither can be taken for the other.
 */
export const WalletClaimsSchema = z
  .object({
    sub: z.string().refine((text) => isChecksummedAddress(SUBJECT.exec(text)?.[1] ?? '')),
    /** The origin that the wallet signed in to. */
    aud: z.string().min(1).max(512),
    /** Never `admin`. */
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .refine((scopes) => new Set(scopes).size === scopes.length)
      .readonly(),
    iat,
    exp,
    jti,
    email: z.undefined().optional(),
    quotaMb: z.undefined().optional(),
  })
  .readonly()

export type WalletClaims = z.output<typeof WalletClaimsSchema>

/** What a bearer token of this service can say. */
export type BearerClaims = TokenClaims | WalletClaims

/** True for the claims of a token that a wallet signed in for. */
export function isOfWallet(claims: BearerClaims): claims is WalletClaims {
  return claims.sub.startsWith(NAMESPACE)
}

/** The form that the claims of this payload must have: a wallet's by its `sub`, a user's otherwise. */
export function claimsSchemaFor(payload: unknown): typeof TokenClaimsSchema | typeof WalletClaimsSchema {
  const isWallet =
    typeof payload === 'object' &&
    payload !== null &&
    'sub' in payload &&
    typeof payload.sub === 'string' &&
    payload.sub.startsWith(NAMESPACE)
  return isWallet ? WalletClaimsSchema : TokenClaimsSchema
}
