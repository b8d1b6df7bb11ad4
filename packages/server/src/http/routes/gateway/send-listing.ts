import type { FolderListing } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { FolderResource } from '../../../gateway/gateway-resource.ts'
import { listFolder } from '../../../gateway/list-folder.ts'
import { type ContentRequest, contentName } from './content-request.ts'
import { withReader } from './gateway-request.ts'
import { listingPage } from './listing-page.ts'
import { sendPage } from './send-page.ts'

/** A page has far fewer entries; the rest are the shards of a folder that has nothing else. */
const LIMITS = { maxBlocks: 4096, maxLinks: 262_144 }

/** The list of a folder, a page at a time: for a person, or as JSON. */
export async function sendListing(content: ContentRequest, folder: FolderResource): Promise<void> {
  const { asked } = content
  const { service, query } = asked
  const isJson = asked.asked.format === 'json'
  const after = query.get('after')
  const cid = contentName(content)
  const kind = `${service.version}${isJson ? '.json' : ''}${after === undefined ? '' : `.${shortHash(after)}`}`
  const contentType = isJson ? 'application/json' : 'text/html; charset=utf-8'
  await withReader(asked, LIMITS, (reader) =>
    sendPage(content, { etag: `"DirIndex-${kind}_CID-${cid}"`, contentType }, async () => {
      const { entries, next } = await listFolder(reader, folder, after)
      const listing: FolderListing = {
        path: asked.target.path,
        cid,
        entries: entries.map((entry) => ({
          name: entry.name,
          cid: String(entry.cid),
          dagSize: entry.dagBytes ?? null,
        })),
        next: next ?? null,
      }
      return isJson ? Buffer.from(JSON.stringify(listing)) : htmlOf(content, listing)
    }),
  )
}

function htmlOf({ asked }: ContentRequest, listing: FolderListing): Buffer {
  const { target, prefix, gateway, query } = asked
  const share = query.get('share')
  return listingPage({
    listing,
    prefix,
    gateway,
    root: target.id.text,
    segments: target.segments,
    isContinued: query.has('after'),
    query: share === undefined ? '' : `?share=${encodeURIComponent(share)}`,
  })
}

function shortHash(text: string): string {
  return sha256Hex(Buffer.from(text)).slice(0, 8)
}
