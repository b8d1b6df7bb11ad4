import { type Session, TOKEN_SCOPES } from '@lade/core/wire'
import type { SessionRecord } from '../records/record-store.ts'
import { walletOfUserId } from '../wallets/wallet.ts'

/** A session as its user sees it. */
export function sessionEntryOf(session: SessionRecord, currentId: string | undefined): Session {
  const { id, via, sub, email, scopes, quotaMb, jti, createdAt, lastUsedAt, expiresAt } = session
  return {
    id,
    via,
    userId: sub,
    email,
    owner: email ?? walletOfUserId(sub)?.address ?? null,
    scopes: TOKEN_SCOPES.filter((scope) => scopes.includes(scope)),
    quotaMb,
    createdAt: timeText(createdAt),
    lastUsedAt: timeText(lastUsedAt),
    expiresAt: timeText(expiresAt),
    current: id === currentId,
    jti,
  }
}

function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
