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

/** Issued tokens, their revocations and the signups per address. */
export interface TokenRecords {
  /** Counts a signup of this address in this hour and records its token, unless the hour's limit is reached. */
  signUp(request: {
    token: TokenRecord
    address: string
    hour: number
    limit: number
  }): Promise<{ readonly outcome: 'issued' } | { readonly outcome: 'limited'; readonly used: number }>
  /** How this token was revoked, if it was. Tokens that the store never saw were not. */
  revocation(jti: string): Promise<Revocation | undefined>
  list(request: { sub: string }): Promise<readonly TokenRecord[]>
  /**
   * Revokes a token of this user; the first time stays. Its share links end with the first revocation that does not keep them, and do not come
   * back. Undefined for a jti of another user or of nobody.
   */
  revoke(request: {
    jti: string
    sub: string
    now: number
    keepsLinks: boolean
  }): Promise<{ readonly revokedAt: number } | undefined>
  touch(uses: readonly { readonly jti: string; readonly usedAt: number }[]): Promise<void>
}
