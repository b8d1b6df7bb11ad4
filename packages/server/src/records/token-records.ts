/** A token that was issued. The token itself is never stored. Times are epoch milliseconds. */
export interface TokenRecord {
  readonly jti: string
  readonly sub: string
  readonly email: string
  readonly label: string
  readonly scopes: readonly string[]
  readonly quotaMb: number
  readonly issuedAt: number
  readonly expiresAt: number
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
}

/** That a token was revoked. */
export interface Revocation {
  readonly revokedAt: number
  /** True when the share links that the token made go on. */
  readonly keepsLinks: boolean
}

/** A token as it was shown: its claims, and whether it is one that may be used. */
export interface ShownToken {
  readonly jti: string
  readonly sub: string
  readonly issuedAt: number
}

/** What the records say about a token. */
export interface TokenStatus {
  /** False for a token that was never recorded, such as one that the operator minted. */
  readonly isKnown: boolean
  readonly revocation: Revocation | undefined
}

/**
 * Issued tokens, their revocations and the signups per address. What makes, records or revokes one adds it to the audit log. `by` is who
 * revokes, as `NewAuditEntry` has it.
 */
export interface TokenRecords {
  /** Counts a signup of this address in this hour and records its token, unless the hour's limit is reached. */
  signUp(request: {
    token: TokenRecord
    address: string
    hour: number
    limit: number
  }): Promise<{ readonly outcome: 'issued' } | { readonly outcome: 'limited'; readonly used: number }>
  /** Whether this token is recorded, and how it was revoked, if it was: by itself, or with all tokens of its user. */
  status(shown: ShownToken): Promise<TokenStatus>
  /** How this token was revoked, if it was, with all tokens of its user or by itself. A token that was never recorded was not. */
  revocation(jti: string): Promise<Revocation | undefined>
  /**
   * Records a token that was issued elsewhere; nothing happens when it is recorded. From `forgetAt` on `forget` removes it, if it was not
   * revoked; null keeps it.
   *
   * @param request.now - when that is. @default when it was issued
   */
  record(request: { token: TokenRecord; forgetAt: number | null; now?: number | undefined }): Promise<void>
  list(request: { sub: string }): Promise<readonly TokenRecord[]>
  /**
   * Revokes a token of this user; the first time stays. Its share links end with the first revocation that does not keep them, and do not come
   * back. Undefined for a jti of another user or of nobody; `admin_only` for a token with the scope `admin`, which only `revokeAny` and
   * `revokeUser` revoke.
   */
  revoke(request: {
    jti: string
    sub: string
    now: number
    keepsLinks: boolean
    /** @default the user */
    by?: string
  }): Promise<{ readonly revokedAt: number } | 'admin_only' | undefined>
  /** Revokes any token, also one that was never recorded; otherwise as `revoke`. */
  revokeAny(request: {
    jti: string
    now: number
    keepsLinks: boolean
    /** @default 'operator' */
    by?: string
  }): Promise<{ readonly revokedAt: number }>
  /**
   * Revokes every token of this user that was issued before `now`, also those that were never recorded.
   *
   * @returns how many recorded tokens this ended.
   */
  revokeUser(request: {
    sub: string
    now: number
    keepsLinks: boolean
    /** @default 'operator' */
    by?: string
  }): Promise<{ readonly tokens: number }>
  /** Removes tokens whose time has come; answers how many. */
  forget(request: { now: number; limit: number }): Promise<number>
  touch(uses: readonly { readonly jti: string; readonly usedAt: number }[]): Promise<void>
}
