import { LadeError } from '@lade/core/errors'

/** The parameters of a request target, each at most once. */
export type Query = ReadonlyMap<string, string>

const NONE: Query = new Map()

/** The path of a request target, as sent. */
export function pathOf(url: string): string {
  const mark = url.indexOf('?')
  return mark === -1 ? url : url.slice(0, mark)
}

/**
 * Reads the query of a request target.
 *
 * @param repeatable - parameters of which there may be several; the first of each is answered.
 * @throws {LadeError} `bad_request` when a parameter stands there twice, since two readers could choose differently.
 */
export function queryOf(url: string, repeatable: readonly string[] = []): Query {
  const mark = url.indexOf('?')
  if (mark === -1) return NONE
  const query = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(url.slice(mark + 1))) {
    if (query.has(name)) {
      if (repeatable.includes(name)) continue
      throw new LadeError('bad_request', {
        reason: `The query parameter "${printable(name)}" appears twice. Send it once.`,
      })
    }
    query.set(name, value)
  }
  return query
}

function printable(text: string): string {
  return text.slice(0, 40).replace(/[^\x20-\x7e]/g, '?')
}
