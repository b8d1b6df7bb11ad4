import type { IncomingMessage } from 'node:http'
import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { type FoundFile, findFile } from '../../../retrieval/find-file.ts'
import { verifyShareLink } from '../../../tokens/share-link.ts'
import { requireCaller } from '../../authenticate.ts'
import type { Query } from '../../query.ts'
import type { Service } from '../../service.ts'

/**
 * The file as this caller may see it: public ones for anybody, private ones by share link or to their owner.
 *
 * @throws {LadeError} `not_found`, `gone`, `invalid_share_link`, and what looking at credentials can.
 */
export async function visibleFile(
  service: Service,
  request: IncomingMessage,
  cid: ContentId,
  query: Query,
): Promise<FoundFile> {
  const now = service.now()
  const share = query.get('share')
  if (share !== undefined) return sharedFile(service, cid, share)
  const found = await findFile(service.records, { cid, now })
  if (found !== 'private') return found
  const { principal } = await requireCaller(service, request, query, 'get')
  const own = await findFile(service.records, { cid, now, principal })
  // Whether somebody else has a private file here is nobody's business.
  if (own === 'private') throw new LadeError('not_found', {})
  return own
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
  if (found === 'private') throw new LadeError('not_found', {})
  // A link is to one file, whose type and name it shows, unless the cid has come to name other bytes before these.
  return found.file.object === file.object ? { file, view: found.view } : found
}
