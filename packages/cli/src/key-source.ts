import { join } from 'node:path'
import type { Config } from '@lade/server/config'

/** The signing key's file in the data directory; not in use while `LADE_TOKEN_KEY` is set. */
export function keyFileOf(config: Config): string {
  return join(config.dataDir, 'token.key')
}
