import { StartError } from '@lade/node/settings'
import type { Config } from '../config/config.ts'
import { describeDatabase } from '../config/describe.ts'
import { hasCurrentRecords, withRecords } from './adopt-installation.ts'

/** Which tokens the operator revokes: one by its id, or all of a user that were issued until now. */
export type RevokedTokens = { readonly jti: string } | { readonly sub: string }

/** When, and how many live tokens that the records know this ended; undefined for one token. */
export interface TokensRevoked {
  readonly revokedAt: number
  readonly tokens: number | undefined
}

/**
 * Revokes tokens for the operator, also those that no record knows. Instances on these records may run: they refuse the tokens within
 * 2 seconds.
 *
 * @throws {StartError} when there are no records of this version, or they cannot be opened.
 * @throws {LadeError} `storage_failed`, `read_only`.
 */
export async function revokeTokens(
  config: Config,
  { which, keepsLinks, now }: { readonly which: RevokedTokens; readonly keepsLinks: boolean; readonly now: number },
): Promise<TokensRevoked> {
  // A mistyped directory must not end in records that no service uses.
  if (!(await hasCurrentRecords(config))) {
    throw new StartError(
      `There are no records of this version of Lade in ${describeDatabase(config.database)}. Start the service once.`,
    )
  }
  return withRecords(config, async ({ tokens }) => {
    if ('jti' in which) {
      const { revokedAt } = await tokens.revokeAny({ jti: which.jti.toLowerCase(), now, keepsLinks })
      return { revokedAt, tokens: undefined }
    }
    const ended = await tokens.revokeUser({ sub: which.sub, now, keepsLinks })
    return { revokedAt: now, tokens: ended.tokens }
  })
}
