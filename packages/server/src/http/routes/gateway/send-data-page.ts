import { bytesText } from '@lade/core/errors'
import type { CID } from 'multiformats/cid'
import type { GatewayResource } from '../../../gateway/gateway-resource.ts'
import { listLinks } from '../../../gateway/list-links.ts'
import { type ContentRequest, contentName } from './content-request.ts'
import { addressAt } from './gateway-request.ts'
import { type Markup, markup, page } from './html.ts'
import { sendPage } from './send-page.ts'

/** Of what a block has to say, a page shows as many links, and as much text. */
const SHOWN_LINKS = 1000
const SHOWN_BYTES = 65_536

/** A page about a block of dag-json or dag-cbor, with its links, and a way to save it as it is. */
export async function sendDataPage(
  content: ContentRequest,
  { codec, block }: Extract<GatewayResource, { kind: 'data' }>,
): Promise<void> {
  const { asked, reader } = content
  const cid = contentName(content)
  const etag = `"DagIndex-${asked.service.version}_CID-${cid}"`
  await sendPage(content, { etag, contentType: 'text/html; charset=utf-8' }, async () => {
    const here = addressAt(asked, asked.target.path)
    const links = await listLinks(reader, block.cid, SHOWN_LINKS)
    const bytes = await asked.source.read(block)
    const isShown = codec === 'dag-json' && bytes.length <= SHOWN_BYTES
    return page(
      `${codec} ${asked.target.path}`,
      markup`<h1>${codec} block</h1>
<p>Path: <code>${asked.target.path}</code></p>
<p>CID: <code translate="no">${cid}</code></p>
<p>Size: ${bytesText(bytes.length)}</p>
<p>Download: <a href="${here}?format=${codec}&amp;download=true">${codec}</a>, <a href="${here}?format=raw">raw block</a>.</p>
${linkList(links, asked.gateway)}
${isShown ? markup`<h2>Content</h2>\n<pre tabindex="0"><code>${Buffer.from(bytes).toString('utf8')}</code></pre>` : markup``}`,
    )
  })
}

function linkList(links: readonly CID[], gateway: string): Markup {
  if (links.length === 0) return markup`<p>It has no links.</p>`
  const items = links
    .map(String)
    .map((cid) => markup`<li><a class="ipfs-hash" translate="no" href="${gateway}/ipfs/${cid}">${cid}</a></li>\n`)
  const more = links.length < SHOWN_LINKS ? '' : `, the first ${SHOWN_LINKS.toLocaleString('en-US')}`
  return markup`<h2>Links${more}</h2>\n<ul>\n${items}</ul>`
}
