import stringWidth from 'string-width'

/** What moves the cursor, changes colours, breaks lines, or changes how the rest of a line is displayed. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu
/** Format characters that names of files in some scripts, and emoji, are written with. */
const JOINERS = new Set(['\u200c', '\u200d'])

/**
 * Text from elsewhere, such as the name of a file, as it may be shown on a terminal: nothing in it is a command to the
 * terminal, and it is one line.
 *
 * @example
 * printable('a\x1b[2Jb') // 'a\\x1b[2Jb'
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (JOINERS.has(character) ? character : escapeOf(character)))
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`
}

/** How many columns of a terminal `text` takes; escape sequences take none. */
export function widthOf(text: string): number {
  return stringWidth(text)
}

const ELLIPSIS = '…'
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * `text` in at most `width` columns: what does not fit is taken out of its middle, where names and ids differ least.
 *
 * @param text - without escape sequences.
 *
 * @example
 * shorten('photograph-of-a-cat.jpg', 12) // 'photog…t.jpg'
 */
export function shorten(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  if (width <= 1) return ELLIPSIS.slice(0, Math.max(0, width))
  const graphemes = Array.from(GRAPHEMES.segment(text), ({ segment }) => segment)
  const tail = endThatFits(graphemes.toReversed(), Math.floor((width - 1) / 2)).toReversed()
  const head = endThatFits(graphemes, width - 1 - widthOf(tail.join('')))
  return `${head.join('')}${ELLIPSIS}${tail.join('')}`
}

function endThatFits(graphemes: readonly string[], width: number): string[] {
  const taken: string[] = []
  let free = width
  for (const grapheme of graphemes) {
    free -= widthOf(grapheme)
    if (free < 0) break
    taken.push(grapheme)
  }
  return taken
}
