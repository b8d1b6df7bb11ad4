import { LadeError } from '../errors/lade-error.ts'

/** Longer than any media type in use; a bound on what is kept for each file. */
export const MEDIA_TYPE_MAX_CHARACTERS = 255

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED_STRING = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t \\x21-\\x7e\\x80-\\xff])*"'
/**
 * `type/subtype` and its parameters, of which any may be missing between two semicolons.
 *
 * No two neighbouring repetitions can take the same character, so that a mismatch is found in linear time.
 */
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:[\\t ]*;(?:[\\t ]*${TOKEN}=(?:${TOKEN}|${QUOTED_STRING}))?)*$`)

/**
 * Reads a `Content-Type` header and gives it back as sent, without the white space around it.
 *
 * Only the grammar is checked: the type need not be registered, and parameters keep their case and order.
 *
 * @param value - the header as Node reads it (latin1); undefined when it is absent.
 * @returns 1 to 255 characters.
 * @throws {LadeError} `invalid_content_type`, with the reason.
 * @see RFC 9110 sections 8.3.1 (media types), 5.6.6 (parameters) and 5.6.4 (quoted strings).
 *
 * @example
 * parseMediaType(' text/plain; charset="utf-8" ') // 'text/plain; charset="utf-8"'
 */
export function parseMediaType(value: string | undefined): string {
  if (value === undefined) throw refusal('It is missing.')
  if (value.length > MEDIA_TYPE_MAX_CHARACTERS) {
    throw refusal(`It has ${value.length} characters; at most ${MEDIA_TYPE_MAX_CHARACTERS} are kept.`)
  }
  const mediaType = value.replace(/^[\t ]+/, '').replace(/[\t ]+$/, '')
  if (!MEDIA_TYPE.test(mediaType)) throw refusal('It is not of the form type/subtype; parameter=value.')
  return mediaType
}

/** A CAR: blocks of a DAG, one behind the other. */
export const CAR_MEDIA_TYPE = 'application/vnd.ipld.car'
/** One block. */
export const RAW_BLOCK_MEDIA_TYPE = 'application/vnd.ipld.raw'

/** True for the media type of a CAR, with or without parameters. */
export function isCarMediaType(mediaType: string): boolean {
  return mediaType.split(';', 1)[0]?.trim().toLowerCase() === CAR_MEDIA_TYPE
}

/** Types that browsers run, or show as a document that can run something, apart from every `…+xml`. */
const ACTIVE_TYPES: ReadonlySet<string> = new Set([
  'text/html',
  'text/xml',
  'text/xsl',
  'text/pdf',
  'text/vbscript',
  'text/x-component',
  'text/cache-manifest',
  'application/xml',
  'application/xml-dtd',
  'application/xml-external-parsed-entity',
  'text/xml-external-parsed-entity',
  'application/xslt',
  'application/pdf',
  'application/x-pdf',
  'application/hta',
  'application/wasm',
  'application/x-shockwave-flash',
  'application/futuresplash',
  'application/x-silverlight-app',
  'application/x-java-applet',
  'application/java-archive',
  // Whole pages in one file, and pages that replace each other.
  'multipart/related',
  'multipart/x-mixed-replace',
  'message/rfc822',
  'application/x-mimearchive',
  // JavaScript, as browsers still recognise it: https://mimesniff.spec.whatwg.org/#javascript-mime-type
  'application/ecmascript',
  'application/javascript',
  'application/x-ecmascript',
  'application/x-javascript',
  'text/ecmascript',
  'text/javascript',
  'text/javascript1.0',
  'text/javascript1.1',
  'text/javascript1.2',
  'text/javascript1.3',
  'text/javascript1.4',
  'text/javascript1.5',
  'text/jscript',
  'text/livescript',
  'text/x-ecmascript',
  'text/x-javascript',
])

/**
 * True for a type that a browser would run or render as a document on the origin it came from.
 *
 * Compares type and subtype only, without case. Any string may be passed; false says nothing about its grammar.
 *
 * @example
 * isActiveMediaType('image/svg+xml; charset=utf-8') // true
 * isActiveMediaType('text/css') // false
 */
export function isActiveMediaType(value: string): boolean {
  const semicolon = value.indexOf(';')
  const essence = (semicolon === -1 ? value : value.slice(0, semicolon)).trim().toLowerCase()
  return ACTIVE_TYPES.has(essence) || essence.endsWith('+xml')
}

function refusal(reason: string): LadeError<'invalid_content_type'> {
  return new LadeError('invalid_content_type', { reason })
}
