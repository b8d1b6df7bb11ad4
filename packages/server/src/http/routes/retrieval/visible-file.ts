import type { IncomingMessage } from 'node:http'
import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { type FoundFile, findFile } from '../../../retrieval/find-file.ts'
import { requireScope } from '../../../tokens/authorize.ts'
import { verifyShareLink } from '../../../tokens/share-link.ts'
import { findCaller } from '../../authenticate.ts'
import type { Caller } from '../../caller.ts'
import type { Query } from '../../query.ts'
import type { Service } from '../../service.ts'

/** A file as one caller sees it. */
export interface VisibleFile extends FoundFile {
  /** True for a file of the caller's own, whose type and name others may see differently. */
  readonly isOwn: boolean
}

/**
 * The file as this caller may see it: its own, public ones, and private ones by share link. A private file of somebody else is not there.
 *
 * @throws {LadeError} `not_found`, `gone`, `invalid_share_link`, and what looking at credentials can.
 */
export async function visibleFile(
  service: Service,
  request: IncomingMessage,
  cid: ContentId,
  query: Query,
): Promise<VisibleFile> {
  const { records } = service
  const now = service.now()
  const share = query.get('share')
  if (share !== undefined) return { ...(await sharedFile(service, cid, share)), isOwn: false }
  const reader = await readerOf(service, request, query)
  if (reader === undefined) return { ...(await findFile(records, { cid, now })), isOwn: false }
  const { principal, scopes } = reader
  const found = await findFile(records, { cid, now, principal })
  if (found.file.visibility === 'public' || scopes.includes('get')) {
    return { ...found, isOwn: found.file.principal === principal }
  }
  const shown = await findFile(records, { cid, now }).catch(nothingFound)
  if (shown !== undefined) return { ...shown, isOwn: false }
  requireScope(reader, 'get')
  return { ...found, isOwn: true }
}

/** Who reads, by a token or the signature of a wallet. Other credentials are for a proxy on the way, and are passed over. */
async function readerOf(service: Service, request: IncomingMessage, query: Query): Promise<Caller | undefined> {
  const { authorization } = request.headers
  if (authorization !== undefined && !/^Bearer +pk_live_/i.test(authorization)) return undefined
  return findCaller(service, request, query)
}

function nothingFound(error: unknown): undefined {
  if (LadeError.has(error, 'not_found') || LadeError.has(error, 'gone')) return undefined
  throw error
}

async function sharedFile(service: Service, cid: ContentId, share: string): Promise<FoundFile> {
  const now = service.now()
  const grant = verifyShareLink({ key: service.keys.current(), cid: cid.key, share, now: new Date(now) })
  if (grant.jti !== undefined && !(await service.authorizer.linksHold(grant.jti))) {
    throw new LadeError('invalid_share_link', {})
  }
  const file = await service.records.files.bySequence(Number(grant.fileId))
  if (file === undefined || !grant.isFrom(file.principal)) throw new LadeError('invalid_share_link', {})
  if (file.end !== null || file.expiresAt <= service.filesNow())
    throw new LadeError('gone', { reason: file.end ?? 'expired' })
  const found = await findFile(service.records, { cid, now, principal: file.principal })
  // A link is to one file, whose type and name it shows, unless the cid has come to name other bytes before these.
  return found.file.object === file.object ? { file, view: found.view } : found
}
