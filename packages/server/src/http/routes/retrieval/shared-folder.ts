import { pathOf } from '../../query.ts'
import type { Service } from '../../service.ts'
import { type RawHandler, rawRoute } from '../raw-route.ts'
import { type Routes, takenOver } from '../routes.ts'
import { getFilePath } from './get-file-path.ts'

/** What the addresses of shared folders begin with; the signature of the link follows, then the cid. */
const SHARE_PREFIX = '/share/'

/**
 * Answers `/share/{signature}/{cid}/{path}`: what is in a private folder, to holders of its share link. The signature is in the path, so that links
 * between the pages of the folder keep it.
 */
export function sharedFolderHandler(service: Service): RawHandler {
  return (request, response, { query, headers }) => {
    const path = pathOf(request.url ?? '/')
    const signature = path.slice(SHARE_PREFIX.length).split('/', 1)[0] ?? ''
    return getFilePath(service, request, response, {
      query: new Map([...query, ['share', signature]]),
      headers,
      prefix: `${SHARE_PREFIX}${signature}/`,
    })
  }
}

/** The address of a folder by its share link. @param share - `share=` and the signature, as it is signed. */
export function sharedFolderUrl(retrievalUrl: string, cid: string, share: string): string {
  const origin = retrievalUrl.slice(0, retrievalUrl.lastIndexOf('/p/'))
  return `${origin}${SHARE_PREFIX}${share.slice('share='.length)}/${cid}/`
}

/** `/share/{signature}/{cid}/{path}`. */
export function sharedFolderRoutes(app: Routes, service: Service): void {
  const onRequest = rawRoute(service, sharedFolderHandler(service))
  // A link to open, which only the service makes: no endpoint of the API.
  const schema = { hide: true }
  app.route({ method: ['GET', 'HEAD'], url: '/share/:signature/:cid/*', schema, onRequest, handler: takenOver })
}
