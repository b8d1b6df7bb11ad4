import { stat } from 'node:fs/promises'
import { LadeError } from '@lade/core/errors'
import { repeat } from '../clock/repeat.ts'
import { type KeyFilePlace, readKeyFile } from './key-file.ts'
import type { SigningKey } from './signing-key.ts'
import type { SigningKeys } from './signing-keys.ts'

export interface WatchKeyFileOptions extends KeyFilePlace {
  /** Is given each new key before `onChange` hears of it. */
  readonly keys: SigningKeys
  /** Time between two looks. @default 1000 */
  readonly intervalMs?: number
  readonly onChange?: (key: SigningKey) => void
  /** Hears of each look that failed; the key in force stays in force. */
  readonly onError?: (error: LadeError) => void
}

/** A watch under way; it keeps no process alive. */
export interface KeyFileWatch {
  /** Ends the watch. A look under way still ends, and changes nothing. */
  close(): void
}

/**
 * Puts each new key of `file` in force, within `intervalMs` and the time of one small read.
 *
 * Looks at the file's identity and reads it only when that has changed. A file that is missing or wrong changes nothing
 * but the report to `onError`, so that a mistake in the data directory does not end every session.
 */
export function watchKeyFile(options: WatchKeyFileOptions): KeyFileWatch {
  const { file, alg, keys, intervalMs = 1000, onChange, onError } = options
  let lastSeen: string | undefined
  let isClosed = false

  async function look(): Promise<void> {
    try {
      const seen = await identityOf(file)
      if (seen === lastSeen) return
      const key = (await readKeyFile({ file, alg }))?.key
      if (isClosed || key === undefined) return
      lastSeen = seen
      if (key.id === keys.currentId()) return
      keys.replace(key)
      onChange?.(key)
    } catch (error) {
      if (!LadeError.is(error)) throw error
      onError?.(error)
    }
  }

  const looks = repeat(look, intervalMs)
  return {
    close() {
      isClosed = true
      void looks.stop()
    },
  }
}

/** Changes with each replacement of the file. Taken before the read, so that a change in between is seen next time. */
async function identityOf(file: string): Promise<string> {
  try {
    const { ino, mtimeNs, ctimeNs, size } = await stat(file, { bigint: true })
    return [ino, mtimeNs, ctimeNs, size].join(' ')
  } catch (cause) {
    throw new LadeError('auth_offline', {}, { cause })
  }
}
