/** A parameter of a header, quoted or not. */
const PLAIN_NAME = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i
const EXTENDED_NAME = /;\s*filename\*\s*=\s*utf-8'[^']*'([^\s;]+)/i

/**
 * The file name in a `Content-Disposition` header; undefined without one.
 *
 * @see RFC 6266 section 4.3 - `filename*` goes before `filename`.
 *
 * @example
 * filenameIn(`inline; filename="plan?.pdf"; filename*=UTF-8''plan%C3%A9.pdf`) // 'plané.pdf'
 */
export function filenameIn(header: string | null): string | undefined {
  if (header === null) return undefined
  const extended = EXTENDED_NAME.exec(header)?.[1]
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended)
    } catch {
      // What is no percent-encoding is no name; the plain one may be there, too.
    }
  }
  const [, quoted, bare] = PLAIN_NAME.exec(header) ?? []
  return quoted?.replaceAll(/\\(.)/g, '$1') ?? bare
}
