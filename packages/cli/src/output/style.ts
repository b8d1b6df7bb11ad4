import { styleText } from 'node:util'
import type { OutputStream } from '../terminal.ts'

/** The few ways in which text is set off. */
export interface Style {
  bold(text: string): string
  faint(text: string): string
  good(text: string): string
  doubtful(text: string): string
  bad(text: string): string
}

/** Colours for what is written to `stream`; none where it is no terminal, or NO_COLOR says so, unless FORCE_COLOR does. */
export function styleFor(stream: OutputStream): Style {
  const set = (format: Parameters<typeof styleText>[0]) => (text: string) => styleText(format, text, { stream })
  return { bold: set('bold'), faint: set('dim'), good: set('green'), doubtful: set('yellow'), bad: set('red') }
}
