import { type Dictionary, ParseError, parseDictionary, SerializeError, serializeDictionary } from 'structured-headers'

/**
 * Parses a dictionary of structured fields (RFC 9651) that is written in its one canonical spelling, white space aside.
 *
 * By the RFC the last of two members of one name counts, and of two parameters; a reader that takes the first sees another
 * message. So a name that stands there twice is refused, and with it base64 without its padding, numbers with leading zeros,
 * and every other spelling that would be written back differently.
 *
 * @param text - the lines of the field, joined by commas.
 * @returns undefined for everything else.
 *
 * @example
 * parseStrictDictionary('a=1, b=(x y);c')?.size // 2
 * parseStrictDictionary('a=1, a=1') // undefined
 */
export function parseStrictDictionary(text: string): Dictionary | undefined {
  try {
    const dictionary = parseDictionary(text)
    return withoutSpace(serializeDictionary(dictionary)) === withoutSpace(text) ? dictionary : undefined
  } catch (error) {
    if (error instanceof ParseError || error instanceof SerializeError) return undefined
    throw error
  }
}

function withoutSpace(text: string): string {
  return text.replace(/[ \t]/g, '')
}
