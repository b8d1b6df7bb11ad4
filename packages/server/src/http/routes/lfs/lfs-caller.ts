import type { IncomingMessage } from 'node:http'

/** What `git` asks its user for; the answer has the token as the password. */
export const LFS_HEADERS = { 'lfs-authenticate': 'Basic realm="Lade: any user name, and a token as the password"' }

/**
 * Git's clients send the token as the password of Basic credentials, some as the user name. Here it becomes the bearer token that it is, so
 * that everything else reads one form.
 *
 * @see https://github.com/git-lfs/git-lfs/blob/main/docs/api/authentication.md
 */
export function readBasicToken({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const basic = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(headers.authorization ?? '')?.[1]
  if (basic === undefined) return
  const [user = '', ...password] = Buffer.from(basic, 'base64').toString('utf8').split(':')
  const token = [password.join(':'), user].find((part) => part.startsWith('pk_live_'))
  if (token !== undefined) headers.authorization = `Bearer ${token}`
}
