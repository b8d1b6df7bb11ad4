import { LadeError } from '../errors/lade-error.ts'

/** What common file systems take for one name (NAME_MAX), in bytes of UTF-8. */
export const FILE_NAME_MAX_BYTES = 255

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/
/** C0, DEL and C1, and the two separators that break lines in JavaScript and in some terminals. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u
/** Embeddings, overrides and isolates, with which `gpj.exe` is shown as `exe.jpg`. */
const BIDI_CONTROL = /[\u202a-\u202e\u2066-\u2069]/

/**
 * Reads an `X-Filename` header: the name under which a file is offered when it is retrieved.
 *
 * The name comes back as it was sent, percent-decoded, with no character that could leave a directory, end a header line
 * or change how the rest of the name is displayed. It is still only a suggestion: it is never a path here.
 *
 * @param headerValue - percent-encoded UTF-8; every character printable ASCII.
 * @returns the name, 1 to 255 bytes as UTF-8.
 * @throws {LadeError} `invalid_filename`, with the reason.
 * @see RFC 3986 section 2.1 - percent-encoding; `+` is a plus sign.
 *
 * @example
 * parseFileName('na%C3%AFve%20plan.pdf') // 'naïve plan.pdf'
 */
export function parseFileName(headerValue: string): string {
  if (!PRINTABLE_ASCII.test(headerValue)) {
    throw refusal('X-Filename has characters other than printable ASCII. Percent-encode them as UTF-8.')
  }
  const name = decode(headerValue)
  const sizeBytes = headerValue.length - 2 * countOf(headerValue, '%')
  if (sizeBytes > FILE_NAME_MAX_BYTES) {
    throw refusal(`The file name has ${sizeBytes} bytes as UTF-8; the maximum is ${FILE_NAME_MAX_BYTES}.`)
  }
  if (CONTROL.test(name)) throw refusal('The file name contains a control character.')
  if (BIDI_CONTROL.test(name)) throw refusal('The file name contains a character that changes the text direction.')
  if (/[/\\]/.test(name)) throw refusal('The file name contains / or \\. Send only the last part of the path.')
  const visible = name.trim()
  if (visible === '') throw refusal('The file name is empty. Leave it out, or send one.')
  if (visible === '.' || visible === '..') throw refusal('The file names . and .. are not allowed.')
  return name
}

/** decodeURIComponent takes well-formed UTF-8 only, so the result has no unpaired surrogate and no overlong form. */
function decode(headerValue: string): string {
  try {
    return decodeURIComponent(headerValue)
  } catch (error) {
    if (error instanceof URIError)
      throw refusal('The percent-encoding of X-Filename is malformed or not UTF-8. A percent sign itself is %25.')
    throw error
  }
}

function countOf(text: string, character: string): number {
  return text.split(character).length - 1
}

function refusal(reason: string): LadeError<'invalid_filename'> {
  return new LadeError('invalid_filename', { reason })
}
