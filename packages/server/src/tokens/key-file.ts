import { randomBytes } from 'node:crypto'
import { type FileHandle, link, open, rename, unlink } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { LadeError } from '@lade/core/errors'
import type { TokenAlg } from '@lade/core/wire'
import { createDurableDirectory, hasCode, syncDirectory } from '@lade/node/disk/durable-directory'
import { isSystemError, systemReason } from '@lade/node/disk/system-error'
import { newKeyText, parseKeyText } from './key-text.ts'
import type { SigningKey } from './signing-key.ts'

// Published as @lade/server/keys: all that a program needs to keep the key and to mint tokens without a running server.
export { normalizeEmail, userIdOf } from './email.ts'
export { openKeptKey, readKeptKey, rotateKeptKey } from './kept-key.ts'
export { mintToken } from './mint-token.ts'
export { ROTATION_DAYS, SigningKey } from './signing-key.ts'
export { labelOf } from './token-label.ts'

/** A key and where it lives. */
export interface OpenedKeyFile {
  readonly key: SigningKey
  /** Sentences for the operator about a key that works and could be kept better. */
  readonly warnings: readonly string[]
}

/** Where a key file is, and for which algorithm its key is. */
export interface KeyFilePlace {
  /** The path: `<dataDir>/` and {@link keyFileName}. */
  readonly file: string
  /** @default 'HS256' */
  readonly alg?: TokenAlg | undefined
}

export interface KeyFileOptions extends KeyFilePlace {
  /** Becomes the time of issue of a key that is created. */
  readonly now: Date
}

/** How a key is replaced. */
interface RotationOptions {
  /** For how many days the old key is still accepted. @default not at all */
  readonly overlapDays?: number | undefined
}

/** The name of a key's file in the data directory. Each algorithm has one of its own, so that a change of it can be undone. */
export function keyFileName(alg: TokenAlg): string {
  return alg === 'HS256' ? 'token.key' : 'token.rs256.key'
}

/**
 * Opens the signing key of the data directory, and creates it when there is none.
 *
 * The file is created once: of several processes that start together one wins, and all of them return its key. A key
 * that is returned is durable, name included, so that no token outlives its key in a power cut. Mode 0600; a file that
 * others can read is used all the same, with a warning. The directory is created when it is missing (mode 0700).
 *
 * @throws {LadeError} `auth_offline`, whose `cause` says what is wrong: no key and none creatable, a file that cannot be
 * read, that is no JSON Web Key of this algorithm, or whose key has fewer than 32 bytes (HS256) or 2048 bits (RS256).
 *
 * @example
 * const { key } = await openKeyFile({ file: 'data/token.key', now: new Date() })
 * key.ageDays(new Date()) // 0
 */
export async function openKeyFile({ file, alg = 'HS256', now }: KeyFileOptions): Promise<OpenedKeyFile> {
  const existing = await readKeyFile({ file, alg })
  if (existing === undefined) await orAuthOffline(`${file} cannot be created`, () => createKeyFile(file, alg, now))
  // The process that created the file may not have made its name durable yet.
  else await orAuthOffline(`${dirname(file)} cannot be made durable`, () => syncUnlessReadOnly(dirname(file)))
  const opened = existing ?? (await readKeyFile({ file, alg }))
  if (opened === undefined) throw authOffline(new Error(`${file} was removed while it was being opened.`))
  return opened
}

/**
 * The key in `file`, or `undefined` when there is no such file. Creates nothing.
 *
 * @throws {LadeError} `auth_offline`, as {@link openKeyFile}.
 */
export async function readKeyFile({ file, alg = 'HS256' }: KeyFilePlace): Promise<OpenedKeyFile | undefined> {
  const found = await orAuthOffline(`${file} cannot be read`, () => readTextAndMode(file))
  if (found === undefined) return undefined
  const key = await keyFrom(file, alg, found.text)
  const warnings =
    (found.mode & 0o077) === 0
      ? []
      : [
          `${file} is readable by other users of this machine (mode ${modeText(found.mode)}). Run chmod 600 on it and rotate the key.`,
        ]
  return { key, warnings }
}

/**
 * The text of the file, which holds a key, for whoever keeps it elsewhere: it is as secret as the key. `undefined` when there is no such file.
 *
 * @throws {LadeError} `auth_offline`, as {@link openKeyFile}.
 */
export async function readKeyFileText({ file, alg = 'HS256' }: KeyFilePlace): Promise<string | undefined> {
  const found = await orAuthOffline(`${file} cannot be read`, () => readTextAndMode(file))
  if (found === undefined) return undefined
  await keyFrom(file, alg, found.text)
  return found.text
}

async function keyFrom(file: string, alg: TokenAlg, text: string): Promise<SigningKey> {
  const key = await parseKeyText(alg, text)
  if (typeof key === 'string') throw authOffline(new Error(`${file} ${key}`))
  return key
}

/**
 * Replaces the signing key by a new one, atomically and durably; creates it when there is none.
 *
 * Every token and share link made until now is invalid in each process as soon as it has the new key, or when `overlapDays` are over. The
 * old key is kept nowhere else. Of two rotations at once the later one stays.
 *
 * @throws {LadeError} `auth_offline`, whose `cause` says why the file could not be written; the old key then stays.
 */
export async function rotateKeyFile(options: KeyFileOptions & RotationOptions): Promise<OpenedKeyFile> {
  const { file, alg = 'HS256', now, overlapDays } = options
  const text = overlapDays === undefined ? undefined : await readKeyFileText({ file, alg })
  const overlap = text === undefined || overlapDays === undefined ? undefined : { text, days: overlapDays }
  await orAuthOffline(`${file} cannot be replaced`, async () => {
    await withNewKey(file, await newKeyText(alg, now, overlap), (temporary) => rename(temporary, file))
  })
  return openKeyFile({ file, alg, now })
}

async function createKeyFile(file: string, alg: TokenAlg, now: Date): Promise<void> {
  await createDurableDirectory(resolve(dirname(file)))
  await withNewKey(file, await newKeyText(alg, now), async (temporary) => {
    try {
      await link(temporary, file)
    } catch (error) {
      // Another process was first, and its key is the key.
      if (!hasCode(error, 'EEXIST')) throw error
    }
    await unlink(temporary)
  })
}

/** Writes a key to a name of its own, whole and durable, lets `publish` give it its final name, and makes that durable. */
async function withNewKey(file: string, text: string, publish: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${file}.${randomBytes(8).toString('hex')}.tmp`
  try {
    await using handle = await open(temporary, 'wx', 0o600)
    await handle.writeFile(text)
    await handle.sync()
    await publish(temporary)
  } catch (error) {
    await removeIfThere(temporary)
    throw error
  }
  await syncDirectory(dirname(file))
}

/** Where nothing can be written, nothing waits to become durable. */
async function syncUnlessReadOnly(directory: string): Promise<void> {
  try {
    await syncDirectory(directory)
  } catch (error) {
    if (!hasCode(error, 'EROFS')) throw error
  }
}

async function readTextAndMode(file: string): Promise<{ text: string; mode: number } | undefined> {
  let handle: FileHandle
  try {
    handle = await open(file, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  await using opened = handle
  const { mode } = await opened.stat()
  return { text: await opened.readFile('utf8'), mode }
}

async function removeIfThere(file: string): Promise<void> {
  try {
    await unlink(file)
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTDIR')) throw error
  }
}

async function orAuthOffline<Result>(what: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw authOffline(new Error(`${what}: ${systemReason(error)}.`, { cause: error }))
  }
}

function authOffline(cause: Error): LadeError<'auth_offline'> {
  return new LadeError('auth_offline', {}, { cause })
}

function modeText(mode: number): string {
  return (mode & 0o777).toString(8)
}
