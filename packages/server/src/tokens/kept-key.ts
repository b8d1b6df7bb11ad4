import { LadeError } from '@lade/core/errors'
import type { TokenAlg } from '@lade/core/wire'
import { repeat } from '../clock/repeat.ts'
import type { SecretRecords } from '../records/record-store.ts'
import { newKeyText, parseKeyText } from './key-text.ts'
import type { SigningKey } from './signing-key.ts'
import type { SigningKeys } from './signing-keys.ts'

/** Where a key is kept that processes on several machines share, and for which algorithm it is. */
export interface KeptKeyPlace {
  readonly secrets: SecretRecords
  readonly alg: TokenAlg
}

/** What the key is called among the secrets. Each algorithm has one of its own, so that a change of it can be undone. */
export function keptKeyName(alg: TokenAlg): string {
  return `token key ${alg}`
}

/**
 * The signing key that the records keep, made when there is none: of all processes that start together one wins.
 *
 * @throws {LadeError} `storage_failed`; `auth_offline` when what is kept is no key.
 */
export async function openKeptKey({ secrets, alg, now }: KeptKeyPlace & { readonly now: Date }): Promise<SigningKey> {
  const kept = await readKeptKey({ secrets, alg })
  if (kept !== undefined) return kept
  return keyFrom(alg, await secrets.offer({ name: keptKeyName(alg), value: await newKeyText(alg, now) }))
}

/**
 * The signing key that the records keep, or `undefined` when there is none. Makes none.
 *
 * @throws {LadeError} `storage_failed`; `auth_offline` when what is kept is no key.
 */
export async function readKeptKey({ secrets, alg }: KeptKeyPlace): Promise<SigningKey | undefined> {
  const kept = await secrets.find(keptKeyName(alg))
  return kept === undefined ? undefined : keyFrom(alg, kept)
}

/**
 * Replaces the key; every token and share link made until now is invalid as soon as each process has seen it, or when `overlapDays` are
 * over.
 *
 * @throws {LadeError} `storage_failed`; `auth_offline` when what is kept is no key.
 */
export async function rotateKeptKey(
  options: KeptKeyPlace & { readonly now: Date; readonly overlapDays?: number | undefined },
): Promise<SigningKey> {
  const { secrets, alg, now, overlapDays } = options
  const text = overlapDays === undefined ? undefined : await secrets.find(keptKeyName(alg))
  if (text !== undefined) await keyFrom(alg, text)
  const overlap = text === undefined || overlapDays === undefined ? undefined : { text, days: overlapDays }
  const value = await newKeyText(alg, now, overlap)
  await secrets.replace({ name: keptKeyName(alg), value })
  return keyFrom(alg, value)
}

/** Puts each new key that is kept in force, within `intervalMs`; while it cannot be read nothing changes. */
export function watchKeptKey(
  options: KeptKeyPlace & {
    readonly keys: SigningKeys
    /** Time between two looks. @default 1000 */
    readonly intervalMs?: number
    readonly onChange?: (key: SigningKey) => void
  },
): { close(): void } {
  const { secrets, alg, keys, intervalMs = 1000, onChange } = options
  let isClosed = false

  async function look(): Promise<void> {
    const kept = await secrets.find(keptKeyName(alg))
    if (kept === undefined || isClosed) return
    const key = await keyFrom(alg, kept)
    if (key.id === keys.currentId()) return
    keys.replace(key)
    onChange?.(key)
  }

  const looks = repeat(
    () =>
      look().catch((error: unknown) => {
        if (!LadeError.is(error)) throw error
      }),
    intervalMs,
  )
  return {
    close() {
      isClosed = true
      void looks.stop()
    },
  }
}

async function keyFrom(alg: TokenAlg, text: string): Promise<SigningKey> {
  const key = await parseKeyText(alg, text)
  if (typeof key !== 'string') return key
  throw new LadeError('auth_offline', {}, { cause: new Error(`The token key in the database ${key}`) })
}
