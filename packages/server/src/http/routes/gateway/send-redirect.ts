import type { RedirectStatus } from '../../../gateway/redirects-file.ts'
import { requestIdOf } from '../../exchange.ts'
import { blocksOf, type ContentRequest } from './content-request.ts'
import { pathHeaders } from './gateway-headers.ts'

/**
 * Sends to another address.
 *
 * @param status - @default 301, as to the address of a folder that ends in a slash, so that relative links lead to what is in it
 */
export async function sendRedirect(
  content: ContentRequest,
  location: string,
  status: RedirectStatus = 301,
): Promise<void> {
  const { asked, path } = content
  const { request, response, target, headers } = asked
  const caching = await asked.cachingOf(blocksOf(content))
  response.writeHead(status, {
    ...requestIdOf(request),
    location,
    'content-length': 0,
    'cache-control': caching,
    ...pathHeaders(target, path.roots),
    ...headers,
  })
  response.end()
}
