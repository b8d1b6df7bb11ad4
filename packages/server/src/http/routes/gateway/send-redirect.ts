import { requestIdOf } from '../../exchange.ts'
import { blocksOf, type ContentRequest } from './content-request.ts'
import { pathHeaders } from './gateway-headers.ts'

/** Sends to the address of a folder, which ends in a slash, so that relative links lead to what is in it. */
export async function sendRedirect(content: ContentRequest, location: string): Promise<void> {
  const { asked, path } = content
  const { request, response, target, headers } = asked
  const caching = await asked.cachingOf(blocksOf(content))
  response.writeHead(301, {
    ...requestIdOf(request),
    location,
    'content-length': 0,
    'cache-control': caching,
    ...pathHeaders(target, path.roots),
    ...headers,
  })
  response.end()
}
