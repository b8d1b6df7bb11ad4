/** A place in a folder, as the address of the page names it: `{cid}/` and names with slashes behind, but for a file. */
export interface FolderPlace {
  readonly cid: string
  /** The names that lead to the folder that is shown; none for the root. */
  readonly names: readonly string[]
  /** The file of it that is looked at. */
  readonly file: string | undefined
}

/**
 * Reads what follows the page in an address.
 *
 * @returns undefined for a file of the list, which has no slash.
 * @example
 * folderPlaceOf('bafy…/docs/plan.txt') // { cid: 'bafy…', names: ['docs'], file: 'plan.txt' }
 */
export function folderPlaceOf(rest: string): FolderPlace | undefined {
  const [cid = '', ...names] = rest.split('/')
  const last = names.pop()
  if (cid === '' || last === undefined) return undefined
  return { cid, names, file: last === '' ? undefined : last }
}

/**
 * Where something in a folder is retrieved.
 *
 * @param folderUrl - of the folder, or its share link; with a query or without.
 * @example
 * addressIn('https://lade.example/p/bafy…?share=abc', ['docs', 'a b.txt']) // 'https://lade.example/p/bafy…/docs/a%20b.txt?share=abc'
 */
export function addressIn(folderUrl: string, names: readonly string[]): string {
  const url = new URL(folderUrl)
  const base = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`
  url.pathname = `${base}${names.map(encodeURIComponent).join('/')}`
  return url.href
}
