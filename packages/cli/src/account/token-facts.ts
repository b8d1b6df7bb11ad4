/** What a token says about itself. Nobody has checked it: only the service can. */
export interface TokenFacts {
  readonly email: string | undefined
  readonly jti: string | undefined
  readonly scopes: readonly string[] | undefined
  readonly expiresAt: Date | undefined
}

/**
 * Reads the payload of a token.
 *
 * @returns undefined for what holds no payload.
 *
 * @example
 * readTokenFacts('pk_live_eyJ….eyJ….x')?.scopes // ['put', 'get', 'list', 'pin']
 */
export function readTokenFacts(token: string): TokenFacts | undefined {
  let payload: unknown
  try {
    payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  if (typeof payload !== 'object' || payload === null) return undefined
  const { email, jti, scopes, exp } = payload as Record<string, unknown>
  return {
    email: typeof email === 'string' ? email : undefined,
    jti: typeof jti === 'string' ? jti : undefined,
    scopes: Array.isArray(scopes) ? scopes.map(String) : undefined,
    expiresAt: typeof exp === 'number' && Number.isFinite(exp) ? new Date(exp * 1000) : undefined,
  }
}
