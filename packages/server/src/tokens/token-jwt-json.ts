/**
 * Parses JSON (RFC 8259) in UTF-8 whose objects name each member once.
 *
 * `JSON.parse` keeps the last of two members with one name and other parsers keep the first, so a text with both means
 * different things to different readers. Names are compared unescaped.
 *
 * @returns the value, or `undefined` for anything else, a byte order mark included.
 *
 * @example
 * parseUniqueJson(Buffer.from('{"a":1}')) // { a: 1 }
 * parseUniqueJson(Buffer.from('{"a":1,"\\u0061":2}')) // undefined
 */
export function parseUniqueJson(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const value: unknown = JSON.parse(text)
    return hasRepeatedNames(text) ? undefined : value
  } catch (error) {
    // TextDecoder throws a TypeError, JSON.parse a SyntaxError.
    if (error instanceof TypeError || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** A string with the colon after it when it is a name, or a bracket. Other tokens do not matter in valid JSON. */
const NAME_OR_BRACKET = /("(?:[^"\\]|\\.)*")\s*(:?)|[{}[\]]/g

/** @param text - valid JSON. */
function hasRepeatedNames(text: string): boolean {
  const open: Set<string>[] = []
  for (const [token, string, colon] of text.matchAll(NAME_OR_BRACKET)) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (string !== undefined && colon === ':') {
      const name: string = JSON.parse(string)
      const names = open.at(-1)
      if (names?.has(name)) return true
      names?.add(name)
    }
  }
  return false
}
