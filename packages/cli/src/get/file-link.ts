import { UsageError } from '../usage-error.ts'

/** What to get: an id, and where a link says that it is. */
export interface FileLink {
  readonly cid: string
  /** The address of the service, without a slash at its end; undefined for an id by itself. */
  readonly serviceUrl?: string
  /** The signature of a share link. */
  readonly share?: string
}

/**
 * Reads what names a file on the command line: its id, `ipfs://` and its id, or the URL under which a service shows it.
 *
 * @throws {UsageError} for a URL of another form, and for a path below a folder.
 *
 * @example
 * readFileLink('https://lade.example/p/bafk…?share=x') // { cid: 'bafk…', serviceUrl: 'https://lade.example', share: 'x' }
 */
export function readFileLink(text: string): FileLink {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return { cid: text }
  if (scheme === 'ipfs') return { cid: onlySegment(text.slice('ipfs://'.length).split(/[?#]/)[0] ?? '', text) }
  const url = scheme === 'http' || scheme === 'https' ? URL.parse(text) : null
  const [, prefix = '', rest] = /^(.*?)\/(?:p|ipfs)\/(.+)$/.exec(url?.pathname ?? '') ?? []
  if (url === null || rest === undefined) {
    throw new UsageError(
      `${text} does not lead to a file. Pass an id, ipfs://CID, or a URL such as https://lade.example/p/CID.`,
    )
  }
  const share = url.searchParams.get('share')
  return { cid: onlySegment(rest, text), serviceUrl: url.origin + prefix, ...(share === null ? {} : { share }) }
}

function onlySegment(path: string, text: string): string {
  const [cid = '', ...below] = path.split('/').filter((segment) => segment !== '')
  if (cid === '') throw new UsageError(`${text} has no content id in it.`)
  if (below.length > 0) throw new UsageError(`${text} is a file in a folder. Pass the id of the file itself.`)
  return cid
}
