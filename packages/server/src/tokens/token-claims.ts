import { SCOPES } from '@lade/core/wire'
import { z } from 'zod'

const EpochSeconds = z.int().nonnegative()

/**
 * The claims of a token of a user, each present and well-typed. Numbers are safe integers. Claims that this service does not know
 * are dropped.
 */
export const TokenClaimsSchema = z
  .object({
    /** The user id. */
    sub: z.string().min(1).max(128),
    email: z.string().min(1).max(254),
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .refine((scopes) => new Set(scopes).size === scopes.length)
      .readonly(),
    /** The user's daily quota in MB of 1,048,576 bytes. */
    quotaMb: z.int().nonnegative(),
    iat: EpochSeconds,
    exp: EpochSeconds,
    /** Names the token, for revocation. */
    jti: z.uuid(),
  })
  .readonly()

export type TokenClaims = z.output<typeof TokenClaimsSchema>
