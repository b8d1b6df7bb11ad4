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
  if (value === undefined)
    throw refusal('Content-Type is missing. Send the media type of the bytes; application/octet-stream fits any.')
  if (value.length > MEDIA_TYPE_MAX_CHARACTERS) {
    throw refusal(`Content-Type has ${value.length} characters; the maximum is ${MEDIA_TYPE_MAX_CHARACTERS}.`)
  }
  const mediaType = value.replace(/^[\t ]+/, '').replace(/[\t ]+$/, '')
  if (!MEDIA_TYPE.test(mediaType))
    throw refusal(
      `Content-Type is ${shown(mediaType)}. It must have the form type/subtype, such as text/plain; charset=utf-8.`,
    )
  return mediaType
}

/** The grammar, for the documentation. */
export const MEDIA_TYPE_PATTERN = MEDIA_TYPE.source

/** A CAR: blocks of a DAG, one behind the other. */
export const CAR_MEDIA_TYPE = 'application/vnd.ipld.car'
/** One block. */
export const RAW_BLOCK_MEDIA_TYPE = 'application/vnd.ipld.raw'

/** True for the media type of a CAR, with or without parameters. */
export function isCarMediaType(mediaType: string): boolean {
  return essenceOf(mediaType) === CAR_MEDIA_TYPE
}

/** Kinds that a browser shows and never runs; of images all but SVG. */
const SHOWN_KINDS: ReadonlySet<string> = new Set(['image', 'audio', 'video', 'font'])
const SHOWN_TYPES: ReadonlySet<string> = new Set(['text/plain', 'text/markdown', 'text/csv', 'application/json'])
const PDF_MEDIA_TYPE = 'application/pdf'
/** Documents that a browser opens and that may run something, apart from every `…+xml`. */
const PAGE_TYPES: ReadonlySet<string> = new Set(['text/html', 'text/xml', 'application/xml', PDF_MEDIA_TYPE])

/**
 * True for a type that a browser shows without running anything: images but SVG, audio, video, fonts, plain text, Markdown, CSV and JSON.
 * Everything else is better saved.
 *
 * Compares type and subtype only, without case. Any string may be passed; true says nothing about its grammar.
 *
 * @example
 * isShownMediaType('image/png') // true
 * isShownMediaType('image/svg+xml; charset=utf-8') // false
 */
export function isShownMediaType(value: string): boolean {
  const essence = essenceOf(value)
  const [kind = ''] = essence.split('/', 1)
  return SHOWN_TYPES.has(essence) || (SHOWN_KINDS.has(kind) && essence.includes('/') && !essence.endsWith('+xml'))
}

/**
 * True for a document that a browser opens and that may run something: HTML, XML, SVG, PDF. It belongs on an origin of its own.
 *
 * @example
 * isPageMediaType('TEXT/HTML; charset=utf-8') // true
 * isPageMediaType('text/css') // false
 */
export function isPageMediaType(value: string): boolean {
  const essence = essenceOf(value)
  return PAGE_TYPES.has(essence) || essence.endsWith('+xml')
}

/** True for a PDF, which browsers open in a viewer of theirs. */
export function isPdfMediaType(value: string): boolean {
  return essenceOf(value) === PDF_MEDIA_TYPE
}

/** True for a form as browsers and `curl -F` send it: the files are inside of it, between lines of its own. */
export function isMultipartForm(value: string): boolean {
  return essenceOf(value) === 'multipart/form-data'
}

/** Type and subtype, in lower case. */
export function essenceOf(value: string): string {
  const semicolon = value.indexOf(';')
  return (semicolon === -1 ? value : value.slice(0, semicolon)).trim().toLowerCase()
}

/** What was sent, on one line and not too long. */
function shown(text: string): string {
  return JSON.stringify(text.replace(/[^\x20-\x7e]/g, '?').slice(0, 60))
}

function refusal(reason: string): LadeError<'invalid_content_type'> {
  return new LadeError('invalid_content_type', { reason })
}
