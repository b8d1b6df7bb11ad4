import { type FollowedPath, followPath } from '../../../gateway/follow-path.ts'
import {
  type FileResource,
  fileNamed,
  indexOf,
  type ModeratedDeps,
  resourceOf,
} from '../../../gateway/gateway-resource.ts'
import { isPageStatus, type PageStatus, type RedirectMatch, withSentQuery } from '../../../gateway/redirects-file.ts'
import { siteRedirectOf } from '../../../gateway/site-redirects.ts'
import type { DagReader } from '../../../retrieval/dag-reader.ts'
import { pathOf } from '../../query.ts'
import { type GatewayRequest, isOnlyIfCached } from './gateway-request.ts'
import { type GatewayTarget, readTarget } from './gateway-target.ts'
import { missingName } from './missing-name.ts'
import { sendFileAt } from './send-file-at.ts'
import { sendRedirect } from './send-redirect.ts'

const NOT_FOUND_PAGE = '404.html'

/**
 * Answers for a path that leads nowhere: on the host of a site by the first rule of its `_redirects`, else with the nearest `404.html`
 * of the folders in the path, for browsers.
 *
 * @throws {LadeError} `not_found` where there is none of both; `invalid_redirects`; what reading can.
 */
export async function answerMissing(asked: GatewayRequest, reader: DagReader, path: FollowedPath): Promise<void> {
  const deps = { ...asked.service, source: asked.source, reader }
  const isOfSite = asked.prefix === '/' && asked.asked.format !== 'tar'
  const { roots } = path
  const match = isOfSite ? await siteRedirectOf(deps, { roots, segments: asked.target.segments }) : undefined
  if (match !== undefined && (await answerByRule(asked, deps, path, match))) return
  const page = asked.asked.isForBrowser ? await nearestNotFoundPage(asked, deps, path) : undefined
  if (page === undefined) throw missingName(path.missingSegment)
  const content = { asked, reader, path, block: page.block }
  await sendFileAt(content, page, { status: 404, name: NOT_FOUND_PAGE, isInFolder: true })
}

/** False for a rule whose own page is missing. The page is not looked for by rules again, so that they cannot go round in circles. */
async function answerByRule(
  asked: GatewayRequest,
  deps: ModeratedDeps & GatewayRequest['service'],
  path: FollowedPath,
  { to, status }: RedirectMatch,
): Promise<boolean> {
  const { reader } = deps
  if (!isPageStatus(status)) {
    const { url = '' } = asked.request
    const location = withSentQuery(to, url.slice(pathOf(url).length + 1))
    await sendRedirect({ asked, reader, path, block: path.root }, location, status)
    return true
  }
  const target = readTarget(`/ipfs/${asked.target.id.text}${to.replace(/[?#].*$/, '')}`)
  const found = await followPath(deps, {
    ...target,
    now: deps.now(),
    onlyIfCached: isOnlyIfCached(asked.request),
  })
  const page = await pageAt(deps, found, target)
  if (page === undefined) return false
  const content = { asked: { ...asked, target }, reader, path: found, block: page.file.block }
  await sendFileAt(content, page.file, {
    status: refusalOf(status),
    name: page.name,
    isInFolder: true,
    isLasting: true,
  })
  return true
}

function refusalOf(status: PageStatus): Exclude<PageStatus, 200> | undefined {
  return status === 200 ? undefined : status
}

/** The file that a rule names, or the page of a folder. */
async function pageAt(
  deps: ModeratedDeps,
  { end, roots }: FollowedPath,
  { segments }: GatewayTarget,
): Promise<{ readonly file: FileResource; readonly name: string | undefined } | undefined> {
  if (end === undefined) return undefined
  const resource = await resourceOf(deps, end)
  if (resource.kind === 'file') return { file: resource, name: segments.at(-1) }
  if (resource.kind !== 'folder') return undefined
  const file = await indexOf(deps, resource, { roots, segments })
  return file === undefined ? undefined : { file, name: 'index.html' }
}

/** @throws {LadeError} as `fileNamed`. */
async function nearestNotFoundPage(
  { target: { segments } }: GatewayRequest,
  deps: ModeratedDeps,
  { roots }: FollowedPath,
): Promise<FileResource | undefined> {
  for (const [depth, folder] of [...roots.entries()].toReversed()) {
    const to = { roots: roots.slice(0, depth + 1), segments: segments.slice(0, depth) }
    const page = await fileNamed(deps, NOT_FOUND_PAGE, folder, to)
    if (page !== undefined) return page
  }
  return undefined
}
