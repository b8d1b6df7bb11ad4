/** What is the same before and after a move. */
export interface Account {
  readonly usage: unknown
  readonly listing: unknown
}

/** A new token of Ada's, and what it is called in listings. */
export async function signUp(url: string): Promise<{ token: string; jti: string }> {
  const response = await fetch(`${url}/api/auth/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.org', label: 'test' }),
  })
  const { token } = (await response.json()) as { token: string }
  const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { jti: string }
  return { token, jti: payload.jti }
}

/** What a user sees of an account, without where it is asked for and how far provers have come meanwhile. */
export async function account(url: string, token: string): Promise<Account> {
  const ask = async (path: string) =>
    JSON.parse(
      (await (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })).text()).replaceAll(
        url,
        '',
      ),
    )
  const { today } = await ask('/api/usage')
  const { files } = await ask('/api/files?limit=1000')
  return { usage: today, listing: files.map((file: object) => ({ ...file, status: undefined })) }
}
