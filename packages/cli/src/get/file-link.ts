import { UsageError } from '../usage-error.ts'

/** What to get: an id, and where a link says that it is. */
export interface FileLink {
  readonly cid: string
  /** The address of the service, without a slash at its end; undefined for an id by itself. */
  readonly serviceUrl?: string
  /** The signature of a share link. */
  readonly share?: string
  /** A path below the cid, where that is a folder. */
  readonly path?: string
}

/**
 * Reads what names a file on the command line: its id, `ipfs://` and its id, or the URL under which a service shows it; with a path behind the
 * id for what is in a folder.
 *
 * @throws {UsageError} for a URL of another form.
 *
 * @example
 * readFileLink('https://lade.example/p/bafk…?share=x') // { cid: 'bafk…', serviceUrl: 'https://lade.example', share: 'x' }
 */
export function readFileLink(text: string): FileLink {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return pathOf(text, text, (name) => name)
  if (scheme === 'ipfs') return pathOf(text.slice('ipfs://'.length).split(/[?#]/)[0] ?? '', text)
  const url = scheme === 'http' || scheme === 'https' ? URL.parse(text) : null
  const [, prefix = '', rest] = /^(.*?)\/(?:p|ipfs)\/(.+)$/.exec(url?.pathname ?? '') ?? []
  if (url === null || rest === undefined) {
    throw new UsageError(
      `${text} does not lead to a file. Pass an id, ipfs://CID, or a URL such as https://lade.example/p/CID.`,
    )
  }
  const share = url.searchParams.get('share')
  return { ...pathOf(rest, text), serviceUrl: url.origin + prefix, ...(share === null ? {} : { share }) }
}

function pathOf(path: string, text: string, decode = decoded): Pick<FileLink, 'cid' | 'path'> {
  const [cid = '', ...below] = path.split('/').filter((segment) => segment !== '')
  if (cid === '') throw new UsageError(`${text} has no content id in it.`)
  return { cid, ...(below.length > 0 && { path: below.map(decode).join('/') }) }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
