import type { Terminal } from '../terminal.ts'
import { type OpenedLogins, writeLogins } from './login-file.ts'

/** Saves `token` for the service at `url`, which becomes the one that is meant when none is named. @returns the file. */
export function keepToken(terminal: Terminal, { logins }: OpenedLogins, url: string, token: string): Promise<string> {
  return writeLogins(terminal, { url, tokens: { ...logins.tokens, [url]: token } })
}

/** Forgets the token for `url`; the service stays the one that is meant. */
export async function forgetToken(terminal: Terminal, { logins }: OpenedLogins, url: string): Promise<void> {
  const { [url]: _, ...tokens } = logins.tokens
  await writeLogins(terminal, { ...logins, tokens })
}
