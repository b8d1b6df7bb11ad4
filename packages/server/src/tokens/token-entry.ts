import { TOKEN_SCOPES, type TokenList } from '@lade/core/wire'
import type { TokenRecord } from '../records/record-store.ts'

/** A token as listings show it. */
export function tokenEntryOf(
  token: TokenRecord,
  { isWallet, current = false }: { readonly isWallet: boolean; readonly current?: boolean },
): TokenList['tokens'][number] {
  return {
    jti: token.jti,
    label: token.label,
    scopes: TOKEN_SCOPES.filter((scope) => token.scopes.includes(scope)),
    quotaMb: isWallet ? null : token.quotaMb,
    issuedAt: timeText(token.issuedAt),
    createdAt: timeText(token.issuedAt),
    expiresAt: timeText(token.expiresAt),
    lastUsedAt: token.lastUsedAt === null ? null : timeText(token.lastUsedAt),
    revokedAt: token.revokedAt === null ? null : timeText(token.revokedAt),
    current,
    isCurrent: current,
  }
}

function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
