import { TOKEN_SCOPES } from '@lade/core/wire'
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
      .array(z.enum(TOKEN_SCOPES))
      .min(1)
      .refine((scopes) => new Set(scopes).size === scopes.length)
      .readonly(),
    /** The user's daily quota in MB of 1,048,576 bytes. */
    quotaMb: z.int().nonnegative(),
    iat: EpochSeconds,
    exp: EpochSeconds,
    /** Names the token, for revocation. The records know it in lower case. */
    jti: z.uuid().toLowerCase(),
    /** The name that the operator gave the token; the records have those of other tokens. */
    label: z.string().min(1).max(100).optional().catch(undefined),
  })
  .readonly()

export type TokenClaims = z.output<typeof TokenClaimsSchema>
