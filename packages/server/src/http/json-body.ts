import { LadeError } from '@lade/core/errors'

/** Nothing that this API reads nests deeper than a list of values in an object. */
const MAX_DEPTH = 16

/** Found in each text that has a forbidden key. Only such texts are parsed with a reviver, which takes four times as long. */
const MAY_NAME_PROTOTYPE = /__proto__|constructor|\\u/

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses a JSON body: UTF-8 without a byte order mark, at most 16 levels deep, and without the keys that reach into
 * prototypes.
 *
 * @throws {LadeError} `invalid_json`.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  let text: string
  try {
    text = strictUtf8.decode(bytes)
  } catch {
    throw refused('The body is not UTF-8.')
  }
  if (text.startsWith('\uFEFF')) throw refused('The body starts with a byte order mark. Send it without.')
  if (depthOf(text) > MAX_DEPTH) throw refused(`The body is nested deeper than ${MAX_DEPTH} levels.`)
  try {
    return MAY_NAME_PROTOTYPE.test(text) ? JSON.parse(text, refusePrototypes) : JSON.parse(text)
  } catch (error) {
    if (LadeError.is(error)) throw error
    throw refused('The body cannot be parsed as JSON. Check quotes, commas and braces.')
  }
}

function refusePrototypes(key: string, value: unknown): unknown {
  if (key === '__proto__' || key === 'constructor') throw refused(`The key "${key}" is not allowed.`)
  return value
}

/** How deep brackets nest, outside strings; found before parsing, which recurses. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let isInString = false
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index)
    if (isInString) {
      if (character === BACKSLASH) index += 1
      else if (character === QUOTE) isInString = false
    } else if (character === QUOTE) isInString = true
    else if (character === OPEN_LIST || character === OPEN_OBJECT) {
      depth += 1
      deepest = Math.max(deepest, depth)
    } else if (character === CLOSE_LIST || character === CLOSE_OBJECT) depth -= 1
  }
  return deepest
}

function refused(reason: string): LadeError<'invalid_json'> {
  return new LadeError('invalid_json', { reason })
}
