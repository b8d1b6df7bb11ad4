import type { KnownPath } from './known-paths.ts'

/** A longer path is no slip of the fingers, and comparing it takes time. */
const MAX_PATH_CHARACTERS = 128
const SHOWN_CHARACTERS = 60
/** Two characters that differ are a slip; more are another word. */
const MAX_DISTANCE = 2.6

/**
 * What to say to a request for a path that no route answers: the path, and the one that was probably meant.
 *
 * @example
 * unknownPath('POST', '/upload', paths) // 'No such endpoint: POST /upload. Did you mean POST /api/upload?'
 */
export function unknownPath(method: string, path: string, paths: readonly KnownPath[]): string {
  const shown = path.replace(/[^\x21-\x7e]/g, '?')
  const cut = shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS)}…` : shown
  const meant = path.length > MAX_PATH_CHARACTERS ? undefined : probablyMeant(method, path, paths)
  return `No such endpoint: ${method} ${cut}. ${meant === undefined ? 'All endpoints are listed at /docs.' : `Did you mean ${meant}?`}`
}

function probablyMeant(method: string, path: string, paths: readonly KnownPath[]): string | undefined {
  const segments = path
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '' && segment !== '*' && !/^v\d+$/.test(segment))
  if (segments.length === 0) return undefined
  const rest = segments[0] === 'api' ? segments.slice(1) : segments
  const spellings = [segments, ['api', ...rest], ['api', 'auth', ...rest]]
  let best: { readonly route: KnownPath; readonly distance: number } | undefined
  for (const route of paths) {
    if (route.url.includes('*')) continue
    const wanted = route.url.split('/').filter((segment) => segment !== '')
    for (const spelling of spellings) {
      // Between two that are as near, the one that takes the method.
      const distance = distanceOf(spelling, wanted) + (route.methods.includes(method) ? 0 : 0.5)
      if (distance < (best?.distance ?? MAX_DISTANCE)) best = { route, distance }
    }
  }
  if (best === undefined) return undefined
  const { url, methods } = best.route
  const verb = methods.includes(method) ? method : methods[0]
  return `${verb} ${url.replace(/:([a-zA-Z]+)/g, '{$1}')}`
}

/**
 * How many characters differ; infinite for paths of another shape. A parameter fits anything, also nothing at the end. One segment too many
 * may be a parameter that belongs in the query.
 */
function distanceOf(segments: readonly string[], wanted: readonly string[]): number {
  const isShort = segments.length === wanted.length - 1 && wanted.at(-1)?.startsWith(':') === true
  const isLong = segments.length === wanted.length + 1 && wanted.length > 1
  if (segments.length !== wanted.length && !isShort && !isLong) return Number.POSITIVE_INFINITY
  let distance = isShort ? 1 : isLong ? 2 : 0
  for (const [place, segment] of segments.slice(0, wanted.length).entries()) {
    const name = wanted[place] ?? ''
    if (name.startsWith(':')) continue
    const differing = editDistance(segment, name)
    // Short words are all alike.
    if (differing > name.length / 3) return Number.POSITIVE_INFINITY
    distance += differing
  }
  return distance
}

/** Insertions, deletions and replacements of single characters that lead from one word to the other. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let line = 1; line <= one.length; line += 1) {
    const next = [line]
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (one[line - 1] === other[column - 1] ? 0 : 1)
      next.push(Math.min((row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, replaced))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
