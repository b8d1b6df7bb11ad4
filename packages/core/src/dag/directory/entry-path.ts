import { LadeError } from '../../errors/lade-error.ts'
import { utf8Bytes } from '../utf8.ts'
import { MAX_DIRECTORY_DEPTH, MAX_ENTRY_NAME_BYTES, MAX_SYMLINK_TARGET_BYTES } from './directory-limits.ts'

const MAX_SHOWN_CHARACTERS = 80

/**
 * The names of a path, each of which a file system can have.
 *
 * @throws {LadeError} `bad_request` for an empty path or name, `.`, `..`, NUL, a lone surrogate, a name or path that is too long.
 *
 * @example
 * namesOf('docs/read me.txt') // ['docs', 'read me.txt']
 */
export function namesOf(path: string): string[] {
  if (path === '') throw refusal('A path is empty. Name the file or folder.')
  const names = path.split('/', MAX_DIRECTORY_DEPTH + 1)
  if (names.length > MAX_DIRECTORY_DEPTH) {
    throw refusal(`The path ${shown(path)} has more than ${MAX_DIRECTORY_DEPTH} names. Use fewer folders.`)
  }
  for (const name of names) checkName(name, path)
  return names
}

/**
 * Checks the target of a symlink.
 *
 * @throws {LadeError} `bad_request` for a target that is empty or too long, or has NUL or a lone surrogate.
 */
export function checkTarget(target: string, path: string): void {
  const of = `The target of the symlink ${shown(path)}`
  if (target === '') throw refusal(`${of} is empty.`)
  checkText(target, of)
  const sizeBytes = utf8Bytes(target).length
  if (sizeBytes > MAX_SYMLINK_TARGET_BYTES) {
    throw refusal(`${of} has ${sizeBytes} bytes as UTF-8; the maximum is ${MAX_SYMLINK_TARGET_BYTES}.`)
  }
}

/** What a caller sent, on one line and not too long. */
export function shown(text: string): string {
  return text.length > MAX_SHOWN_CHARACTERS
    ? `${JSON.stringify(text.slice(0, MAX_SHOWN_CHARACTERS))}…`
    : JSON.stringify(text)
}

export function refusal(reason: string, options?: ErrorOptions): LadeError<'bad_request'> {
  return new LadeError('bad_request', { reason }, options)
}

function checkName(name: string, path: string): void {
  if (name === '') throw refusal(`The path ${shown(path)} begins or ends with a slash, or has two in a row.`)
  if (name === '.' || name === '..') {
    throw refusal(`The path ${shown(path)} contains the name ${name}. Send the path without it.`)
  }
  checkText(name, `The path ${shown(path)}`)
  // Readers take it for a mark of the encoding and drop it, and then find no such name.
  if (name.startsWith('\ufeff'))
    throw refusal(`A name in the path ${shown(path)} begins with a byte order mark. Remove it.`)
  // A character has three bytes at most in UTF-8 for each unit of UTF-16.
  if (3 * name.length <= MAX_ENTRY_NAME_BYTES) return
  const sizeBytes = utf8Bytes(name).length
  if (sizeBytes > MAX_ENTRY_NAME_BYTES) {
    throw refusal(
      `The name ${shown(name)} has ${sizeBytes} bytes as UTF-8; the maximum is ${MAX_ENTRY_NAME_BYTES}. Use a shorter one.`,
    )
  }
}

function checkText(text: string, subject: string): void {
  if (text.includes('\0')) throw refusal(`${subject} contains a NUL character.`)
  if (!text.isWellFormed()) throw refusal(`${subject} contains half a surrogate pair, which UTF-8 cannot encode.`)
}
