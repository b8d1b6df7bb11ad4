import { join } from 'node:path'
import type { Config } from '@lade/server/config'
import { keyFileName } from '@lade/server/keys'

/** The file in the data directory of the key for the algorithm in force; not in use while `LADE_TOKEN_KEY` is set. */
export function keyFileOf({ dataDir, tokenAlg }: Config): string {
  return join(dataDir, keyFileName(tokenAlg))
}
