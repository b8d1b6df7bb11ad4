import { bytesText } from '@lade/core/errors'
import type { FolderEntry, FolderListing } from '@lade/core/wire'
import type { GatewayPrefix } from './gateway-request.ts'
import { type Markup, markup, page } from './html.ts'

export interface ListingPage {
  readonly listing: FolderListing
  /** What addresses begin with here. */
  readonly prefix: GatewayPrefix
  /** Where content paths of other roots are opened: `//` and a host, or nothing for this one. */
  readonly gateway: string
  /** The root as it was asked for, and the names below it. */
  readonly root: string
  readonly segments: readonly string[]
  /** True where the page does not begin with the first entry. */
  readonly isContinued: boolean
  /** What each link has to carry on, such as a share link; empty or beginning with `?`. */
  readonly query: string
}

/**
 * The list of a folder for a person. The markup of its links is that of other gateways, which programs look for: the way to the folder, the
 * folder above, and each entry by its name and by its CID.
 */
export function listingPage(shown: ListingPage): Buffer {
  const { listing, prefix, segments, query } = shown
  const here = addressOf(shown, segments)
  const namespace = prefix === '/p/' ? '/p/' : '/ipfs/'
  const title = `Index of /ipfs/${[shown.root, ...segments].join('/')}`
  const rows = listing.entries.map((entry) => entryRow(shown, here, entry))
  const parent = markup`<tr><td><a href="${here}/..${query}">..</a></td><td>Folder above</td><td></td></tr>\n`
  const next = listing.next
  return page(
    title,
    markup`<h1>${title}</h1>
<nav aria-label="Path">${namespace}${breadcrumbs(shown)}</nav>
<p>CID: <code translate="no">${listing.cid}</code></p>
<table>
<caption>${captionOf(shown)}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">CID</th><th scope="col">Size with all blocks</th></tr></thead>
<tbody>
${segments.length === 0 ? markup`` : parent}${rows}</tbody>
</table>
${next === null ? markup`` : markup`<p><a rel="next" href="${nextAddress(here, query, next)}">Next page</a></p>\n`}${formats(here, query)}`,
  )
}

function breadcrumbs(shown: ListingPage): Markup[] {
  const { prefix, gateway, root, segments, query } = shown
  return [root, ...segments].map((name, depth) => {
    // Of a site they lead by the gateway, and back to it: what is above its root is not on its host.
    const door = prefix === '/' ? ({ ...shown, prefix: '/ipfs/' } as const) : shown
    const address = `${gateway}${addressOf(door, segments.slice(0, depth))}${query}`
    const link = markup`<a href="${address}">${name}</a>`
    return depth === 0 ? link : markup`/${link}`
  })
}

function entryRow({ prefix, gateway, query }: ListingPage, here: string, { name, cid, dagSize }: FolderEntry): Markup {
  const size = dagSize === null ? '' : bytesText(dagSize)
  // Escaped twice, as the programs that look for it do.
  const filename = encodeURIComponent(encodeURIComponent(name))
  const hash =
    prefix === '/p/'
      ? markup`<span class="ipfs-hash" translate="no">${cid}</span>`
      : markup`<a class="ipfs-hash" translate="no" href="${gateway}/ipfs/${cid}?filename=${filename}">${cid}</a>`
  return markup`<tr><td><a href="${here}/${encodeURIComponent(name)}${query}">${name}</a></td><td>${hash}</td><td>${size}</td></tr>\n`
}

function captionOf({ listing, isContinued }: ListingPage): string {
  const { length } = listing.entries
  if (length === 0) return isContinued ? 'No more entries' : 'The folder is empty'
  const count = `${length.toLocaleString('en-US')} ${length === 1 ? 'entry' : 'entries'}`
  if (listing.next !== null) return `${count} on this page; more follow`
  return isContinued ? `The last ${count}` : count
}

function formats(here: string, query: string): Markup {
  const address = `${here}/${query}${query === '' ? '?' : '&'}format=`
  return markup`<p>Download: <a href="${address}tar">TAR</a>, <a href="${address}car">CAR</a>. As data: <a href="${address}json">JSON</a>.</p>`
}

function nextAddress(here: string, query: string, next: string): string {
  return `${here}/${query}${query === '' ? '?' : '&'}after=${encodeURIComponent(next)}`
}

/** The address of a folder, without a slash at its end: nothing for the root of a site. */
function addressOf({ prefix, root }: Pick<ListingPage, 'prefix' | 'root'>, segments: readonly string[]): string {
  const names = segments.map(encodeURIComponent)
  return prefix === '/' ? names.map((name) => `/${name}`).join('') : prefix + [root, ...names].join('/')
}
