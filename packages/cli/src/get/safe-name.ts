import { extname } from 'node:path'

/** Room for what is put behind the name while the file is fetched; common file systems take 255 bytes. */
const MAXIMUM_BYTES = 200

/** Names that Windows gives to devices, whatever their ending. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i

/**
 * The name under which a file from elsewhere is written: one name in one folder, on every system, that hides nothing.
 *
 * Separators, control characters, characters that turn text around and what Windows refuses become `_`; so does a dot or a dash
 * in front, since a file that appears must not be a hidden one, or be taken for a flag.
 *
 * @param name - as the service suggests it.
 * @param fallback - the name to take when nothing usable is left, such as the content id.
 *
 * @example
 * safeName('../.ssh/authorized_keys', 'bafk…') // '__.ssh_authorized_keys'
 */
export function safeName(name: string | undefined, fallback: string): string {
  const clean = (name ?? '')
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029/\\:*?"<>|]/gu, '_')
    .trim()
    .replace(/^[.-]+/, (front) => '_'.repeat(front.length))
    .replace(/[. ]+$/, '')
  if (/^_*$/.test(clean)) return fallback
  return cut(DEVICE.test(clean) ? `_${clean}` : clean)
}

/** Shortened before its ending, at the end of a character. */
function cut(name: string): string {
  if (Buffer.byteLength(name) <= MAXIMUM_BYTES) return name
  const found = extname(name)
  const ending = Buffer.byteLength(found) <= 20 ? found : ''
  let stem = ''
  let free = MAXIMUM_BYTES - Buffer.byteLength(ending)
  for (const character of name) {
    free -= Buffer.byteLength(character)
    if (free < 0) break
    stem += character
  }
  return stem + ending
}
