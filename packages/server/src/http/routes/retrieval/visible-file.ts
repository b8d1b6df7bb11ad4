import type { IncomingMessage } from 'node:http'
import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { blockedError, blockedErrorFor, type ContentBlock } from '../../../moderation/content-block.ts'
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
 * @param isWhole - false where parts of the file are read one by one, and a blocked one is refused when it is come to. @default true
 * @throws {LadeError} `blocked`, which tells an owner why; `not_found`, `gone`, `invalid_share_link`, and what looking at credentials can.
 */
export async function visibleFile(
  service: Service,
  request: IncomingMessage,
  cid: ContentId,
  query: Query,
  { isWhole = true }: { readonly isWhole?: boolean } = {},
): Promise<VisibleFile> {
  const { content } = service.moderation
  const share = query.get('share')
  const reader = share === undefined ? await readerOf(service, request, query) : undefined
  const blocked = async (block: ContentBlock): Promise<LadeError> =>
    reader === undefined
      ? blockedError()
      : blockedErrorFor(service.records, block, { principal: reader.principal, key: cid.key, now: service.now() })
  const ofId = content.ofId(cid)
  if (ofId !== undefined) throw await blocked(ofId)
  const found = share === undefined ? await fileFor(service, cid, reader) : await sharedFile(service, cid, share)
  const { object } = found.file
  const ofPart = content.isTakenDown(object) ? content.ofObject(object) : undefined
  const ofFile = isWhole ? await content.ofFile(found.file) : ofPart
  if (ofFile !== undefined) throw await blocked(ofFile)
  return { ...found, isOwn: reader !== undefined && found.file.principal === reader.principal }
}

/** What a reader without a share link sees. */
async function fileFor({ records, now }: Service, cid: ContentId, reader: Caller | undefined): Promise<FoundFile> {
  const at = now()
  if (reader === undefined) return findFile(records, { cid, now: at })
  const { principal, scopes } = reader
  const found = await findFile(records, { cid, now: at, principal })
  if (found.file.visibility === 'public' || scopes.includes('get')) return found
  const shown = await findFile(records, { cid, now: at }).catch(nothingFound)
  if (shown !== undefined) return shown
  requireScope(reader, 'get')
  return found
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
