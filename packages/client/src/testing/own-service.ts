import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Substitutes, startLade } from '@lade/server'
import { readConfig } from '@lade/server/config'
import { createLadeClient } from '../client.ts'

/** A real service in this process, on a free port, with a data directory of its own. */
export interface OwnService {
  readonly url: string
  /** A fresh token of a user of its own. */
  token(scopes?: ('put' | 'get' | 'list' | 'pin')[]): Promise<string>
  /** Ends it and removes its data. */
  remove(): Promise<void>
}

export async function startOwnService(
  env: Record<string, string> = {},
  substitutes: Substitutes = {},
): Promise<OwnService> {
  const folder = await mkdtemp(join(tmpdir(), 'lade-client-service-'))
  const defaults = {
    LADE_PORT: '0',
    LADE_DATA_DIR: folder,
    LADE_MIN_FREE_MB: '0',
    LADE_LOG_LEVEL: 'error',
    LADE_SIGNUPS_PER_HOUR: '1000',
  }
  const lade = await startLade(readConfig({ env: { ...defaults, ...env } }), substitutes)
  let users = 0
  return {
    url: lade.url,
    async token(scopes) {
      users += 1
      const request = { email: `user-${users}@example.org`, label: 'test', ...(scopes && { scopes }) }
      return (await createLadeClient({ url: lade.url }).signup(request)).token
    },
    async remove() {
      await lade.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
