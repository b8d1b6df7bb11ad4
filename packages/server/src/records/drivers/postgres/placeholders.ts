/** A statement with the placeholders `$1`, `$2`, … and what they are called in the order of their numbers. */
export interface Numbered {
  readonly text: string
  /** Undefined for a statement whose placeholders have no names. */
  readonly names: readonly string[] | undefined
}

/** Quoted text and names stay as they are; a cast is no placeholder. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|::|\?|:[A-Za-z]\w*/g

/**
 * Numbers the placeholders of a statement: each `?` by itself, the same `:name` always alike.
 *
 * @throws {TypeError} for a statement that has both.
 *
 * @example
 * placeholdersOf('SELECT 1 FROM files WHERE a = :x OR b = :x').text // 'SELECT 1 FROM files WHERE a = $1 OR b = $1'
 */
export function placeholdersOf(statement: string): Numbered {
  const names: string[] = []
  let count = 0
  const text = statement.replace(TOKENS, (token) => {
    if (token === '?') {
      count += 1
      return `$${count}`
    }
    if (!token.startsWith(':') || token === '::') return token
    const name = token.slice(1)
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  if (count > 0 && names.length > 0) throw new TypeError(`Placeholders with and without names: ${statement}`)
  return { text, names: names.length > 0 ? names : undefined }
}
