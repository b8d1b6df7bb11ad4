import { lookup } from 'mrmime'

/** As much of a file as its kind is told from. */
export const SNIFFED_BYTES = 3072

const UNKNOWN = 'application/octet-stream'
/** Control characters that text has: tab, line feed, form feed, carriage return, and escape. */
const TEXT_CONTROLS: readonly number[] = [0x09, 0x0a, 0x0c, 0x0d, 0x1b]

interface Signature {
  readonly offset?: number
  readonly bytes: string
  readonly mediaType: string
}

/** How files of common kinds begin, in latin1; those that browsers show or play, and a few that they save. */
const SIGNATURES: readonly Signature[] = [
  { bytes: '\x89PNG\r\n\x1a\n', mediaType: 'image/png' },
  { bytes: '\xff\xd8\xff', mediaType: 'image/jpeg' },
  { bytes: 'GIF87a', mediaType: 'image/gif' },
  { bytes: 'GIF89a', mediaType: 'image/gif' },
  { offset: 8, bytes: 'WEBP', mediaType: 'image/webp' },
  { offset: 4, bytes: 'ftypavif', mediaType: 'image/avif' },
  { offset: 4, bytes: 'ftypqt', mediaType: 'video/quicktime' },
  { offset: 4, bytes: 'ftyp', mediaType: 'video/mp4' },
  { bytes: '\x1a\x45\xdf\xa3', mediaType: 'video/webm' },
  { bytes: 'OggS', mediaType: 'application/ogg' },
  { bytes: 'ID3', mediaType: 'audio/mpeg' },
  { bytes: 'fLaC', mediaType: 'audio/flac' },
  { offset: 8, bytes: 'WAVE', mediaType: 'audio/wav' },
  { bytes: 'wOF2', mediaType: 'font/woff2' },
  { bytes: 'wOFF', mediaType: 'font/woff' },
  { bytes: '%PDF-', mediaType: 'application/pdf' },
  { bytes: 'PK\x03\x04', mediaType: 'application/zip' },
  { bytes: '\x1f\x8b\x08', mediaType: 'application/gzip' },
  { bytes: '\0asm', mediaType: 'application/wasm' },
]
/** How pages begin, whatever the case, behind white space. */
const PAGES: readonly (readonly [RegExp, string])[] = [
  [/^<svg[\s>]/i, 'image/svg+xml'],
  [/^<(?:!doctype html|html|head|body|!--|script|h1|div|title|p)[\s>]/i, 'text/html'],
  [/^<\?xml[\s\S]{0,1000}<svg[\s>]/i, 'image/svg+xml'],
  [/^<\?xml/i, 'text/xml'],
]

/**
 * The media type that the name of a file lets expect; undefined for a name that says nothing.
 *
 * @example
 * mediaTypeOfName('page.HTML') // 'text/html'
 */
export function mediaTypeOfName(name: string | undefined): string | undefined {
  return name?.includes('.') ? lookup(name) : undefined
}

/**
 * The media type that the first bytes of a file let expect, in time that their number bounds.
 *
 * @param isWhole - true when the bytes are all of the file.
 * @see https://mimesniff.spec.whatwg.org/ - for the signatures.
 */
export function sniffedMediaType(bytes: Uint8Array, isWhole: boolean): string {
  const latin1 = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SNIFFED_BYTES)).toString('latin1')
  const known = SIGNATURES.find(({ offset = 0, bytes: begin }) => latin1.startsWith(begin, offset))
  if (known !== undefined) return known.mediaType
  if (isBinary(bytes) || !isUtf8(bytes)) return UNKNOWN
  const text = latin1.replace(/^(?:\xef\xbb\xbf)?\s*/, '')
  const page = PAGES.find(([begin]) => begin.test(text))
  if (page !== undefined) return page[1]
  return isJson(bytes, isWhole) ? 'application/json' : 'text/plain'
}

/** Text is read as UTF-8 where it is that; browsers take it for something else unless they are told. */
export function withCharset(mediaType: string, firstBytes: Uint8Array): string {
  return mediaType.startsWith('text/') && isUtf8(firstBytes) ? `${mediaType}; charset=utf-8` : mediaType
}

function isBinary(bytes: Uint8Array): boolean {
  return bytes.some((byte) => byte < 0x20 && !TEXT_CONTROLS.includes(byte))
}

/** True unless some bytes are none of UTF-8. A character that is cut off at the end is not looked at. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** A file that is longer than what is looked at is taken for JSON by how it begins. */
function isJson(bytes: Uint8Array, isWhole: boolean): boolean {
  const text = Buffer.from(bytes).toString('utf8')
  if (!isWhole) return /^\s*[[{]\s*(?:["[{\]}]|-?[0-9]|true|false|null)/.test(text)
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
