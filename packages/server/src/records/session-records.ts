/** How somebody signed in. */
export type SessionVia = 'email' | 'code' | 'wallet' | 'token'

/** A browser that is signed in. The records hold a digest of what its cookie says, never that itself. */
export interface SessionRecord {
  /** Shown to its user, and good for nothing but ending it. */
  readonly id: string
  readonly via: SessionVia
  /** The user id; for a wallet `eip155:{chainId}:{address}`. */
  readonly sub: string
  /** Null for a wallet. */
  readonly email: string | null
  readonly scopes: readonly string[]
  /** Null for a wallet. */
  readonly quotaMb: number | null
  /** Of the token that it was made from, with which it ends; null for any other. */
  readonly jti: string | null
  /** The signing key that was in force. */
  readonly keyId: string
  /** When what it was made from was issued: revocations of all tokens of the user that come later end it. */
  readonly issuedAt: number
  readonly createdAt: number
  readonly lastUsedAt: number
  /** When it ends unless it is used before. */
  readonly expiresAt: number
  /** When it ends, however much it is used. */
  readonly endsAt: number
}

/** A session to be recorded. */
export interface SessionOpening {
  readonly session: SessionRecord
  readonly digest: string
  /** The digest of the session that it takes the place of. */
  readonly replaces: string | undefined
  /** How many sessions a user has at most; those that would end first make room. */
  readonly mostOfUser: number
}

/** Counted as a signup of this address in this hour. */
export interface CountedSignup {
  readonly address: string
  readonly hour: number
  readonly limit: number
}

export type SessionOpened = { readonly outcome: 'opened' } | { readonly outcome: 'limited'; readonly used: number }

/** Sessions of browsers. */
export interface SessionRecords {
  /** Records a session and ends the one that it replaces; or neither, when the hour's signups are used up. */
  open(request: { opening: SessionOpening; signup?: CountedSignup | undefined }): Promise<SessionOpened>
  /** The session of this digest, unless it has expired, or the token that it was made from or all tokens of its user were revoked. */
  find(request: { digest: string; now: number }): Promise<SessionRecord | undefined>
  /** Those of this user that `find` would find, the one that was used last first. */
  list(request: { sub: string; now: number }): Promise<readonly SessionRecord[]>
  /** Ends the session of this digest, which signs out. The share links that were made in it go on. Idempotent. */
  signOut(digest: string): Promise<void>
  /**
   * Ends a session of this user. Share links that were made in it end as well, as those of a revoked token do; those of a session that was
   * made from a token are links of that token, and go on.
   *
   * @returns false for a session of another user, or of nobody.
   */
  end(request: { id: string; sub: string; now: number }): Promise<boolean>
  /** Notes when sessions were used, and until when they last for it. Earlier times change nothing. */
  touch(uses: readonly SessionUse[]): Promise<void>
  /** Removes sessions that have expired; answers how many. */
  expire(request: { now: number; limit: number }): Promise<number>
}

/** When a session was used, and when it ends unless it is used again. */
export interface SessionUse {
  readonly id: string
  readonly usedAt: number
  readonly expiresAt: number
}
