import type { GatewayResource } from '../../../gateway/gateway-resource.ts'
import { blocksOf, type ContentRequest, contentName } from './content-request.ts'
import { sendBytes } from './send-bytes.ts'

/** A symbolic link is not followed: it answers the path that it leads to, as text. */
export async function sendSymlink(
  content: ContentRequest,
  { target }: Extract<GatewayResource, { kind: 'symlink' }>,
): Promise<void> {
  const caching = await content.asked.cachingOf(blocksOf(content))
  await sendBytes(content, Buffer.from(target), {
    contentType: 'text/plain; charset=utf-8',
    etag: `"${contentName(content)}"`,
    caching,
    disposition: 'inline',
    isOfNoFormat: true,
  })
}
