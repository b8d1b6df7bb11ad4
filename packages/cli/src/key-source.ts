import { join } from 'node:path'
import type { Config } from '@lade/server/config'
import {
  keyFileName,
  openKeptKey,
  openKeyFile,
  readKeptKey,
  readKeyFile,
  rotateKeptKey,
  rotateKeyFile,
  type SigningKey,
} from '@lade/server/keys'

/** A key, and what could be better about how it is kept. */
export interface FoundKey {
  readonly key: SigningKey
  readonly warnings: readonly string[]
}

/** Where the signing key is kept while `LADE_TOKEN_KEY` does not give it. */
export interface KeyPlace {
  /** As the end of "The key is in …": the path of the file, or `the database …`, never with a password. */
  readonly name: string
  readonly kind: 'file' | 'database'
  /** Undefined when there is none; creates none. */
  read(): Promise<FoundKey | undefined>
  /** Creates one where there is none. */
  open(now: Date): Promise<FoundKey>
  /** Replaces it; with `overlapDays` the old one is still accepted for so long. */
  rotate(now: Date, overlapDays?: number): Promise<FoundKey>
}

/**
 * Keeps the key where the service has it: in the data directory, or in PostgreSQL where the records are there.
 *
 * @throws {LadeError} `storage_failed` when the database cannot be reached; whatever `use` throws.
 */
export async function withKeyPlace<Value>(config: Config, use: (place: KeyPlace) => Promise<Value>): Promise<Value> {
  const { database, tokenAlg: alg } = config
  if (database.kind === 'sqlite') return use(placeInFile(config))
  const { describeDatabase, openKeptSecrets } = await import('@lade/server/stores')
  const secrets = await openKeptSecrets(database)
  const kept = async (key: Promise<SigningKey>): Promise<FoundKey> => ({ key: await key, warnings: [] })
  try {
    return await use({
      name: describeDatabase(database),
      kind: 'database',
      async read() {
        const key = await readKeptKey({ secrets, alg })
        return key && { key, warnings: [] }
      },
      open: (now) => kept(openKeptKey({ secrets, alg, now })),
      rotate: (now, overlapDays) => kept(rotateKeptKey({ secrets, alg, now, overlapDays })),
    })
  } finally {
    await secrets.close()
  }
}

function placeInFile({ dataDir, tokenAlg: alg }: Config): KeyPlace {
  const file = join(dataDir, keyFileName(alg))
  return {
    name: file,
    kind: 'file',
    read: () => readKeyFile({ file, alg }),
    open: (now) => openKeyFile({ file, alg, now }),
    rotate: (now, overlapDays) => rotateKeyFile({ file, alg, now, overlapDays }),
  }
}
