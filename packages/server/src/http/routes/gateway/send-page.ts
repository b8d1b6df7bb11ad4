import { requestIdOf } from '../../exchange.ts'
import { isNotModified } from '../../preconditions.ts'
import type { ContentRequest } from './content-request.ts'
import { gatewayHeaders, sendNotModified } from './gateway-headers.ts'
import { PAGE_OF_SERVICE_POLICY } from './html.ts'

export interface PageAnswer {
  readonly etag: string
  readonly contentType: string
}

/**
 * Answers a page that this service makes of content. Caches are told nothing but its tag: another version of the service may make another one.
 *
 * @param make - makes the page, when the client does not have it.
 */
export async function sendPage(
  { asked, path }: ContentRequest,
  { etag, contentType }: PageAnswer,
  make: () => Promise<Uint8Array>,
): Promise<void> {
  const { request, response, headers } = asked
  headers['content-security-policy'] = PAGE_OF_SERVICE_POLICY
  if (isNotModified(request, { etag })) return sendNotModified(asked, etag, undefined)
  const bytes = await make()
  response.writeHead(200, {
    ...requestIdOf(request),
    ...gatewayHeaders(asked, { contentType, etag, disposition: 'none', roots: path.roots }),
    'content-length': bytes.length,
    ...headers,
  })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}
