import { LadeError } from '@lade/core/errors'
import { followPath } from '../../../gateway/follow-path.ts'
import { type GatewayResource, indexOf, resourceOf } from '../../../gateway/gateway-resource.ts'
import type { DagReader } from '../../../retrieval/dag-reader.ts'
import { pathOf } from '../../query.ts'
import { answerMissing } from './answer-missing.ts'
import { readCarOptions } from './car-options.ts'
import type { ContentRequest } from './content-request.ts'
import { folderAddressAt, type GatewayRequest, isOnlyIfCached, withReader } from './gateway-request.ts'
import { sendData } from './send-data.ts'
import { sendFileAt } from './send-file-at.ts'
import { sendListing } from './send-listing.ts'
import { sendRedirect } from './send-redirect.ts'
import { sendSymlink } from './send-symlink.ts'
import { sendTar } from './send-tar.ts'

/** All bytes of a file are sent, however often its blocks are repeated: they pay. */
const NO_LIMITS = { maxBlocks: Number.POSITIVE_INFINITY, maxLinks: Number.POSITIVE_INFINITY }

/**
 * `GET|HEAD /ipfs/{cid}[/{path}]`: what the path leads to, as a path gateway gives it: a file, the page or the list of a folder, data of other
 * codecs, a TAR.
 *
 * @throws {LadeError} every refusal; the caller answers it.
 * @see https://specs.ipfs.tech/http-gateways/path-gateway/
 */
export async function getContent(asked: GatewayRequest): Promise<void> {
  checkDownload(asked)
  // What stands in the query is well-formed, whether or not it means something for the format.
  readCarOptions(asked.query, asked.asked.carParameters)
  // A TAR is walked as far as a CAR is. What a file begins with says what it is, also to HEAD.
  const limits = asked.asked.format === 'tar' ? {} : NO_LIMITS
  await withReader(asked, { ...limits, isSent: true }, (reader) => answer(asked, reader))
}

async function answer(asked: GatewayRequest, reader: DagReader): Promise<void> {
  const { service, request, source, target } = asked
  const deps = { ...service, source, reader }
  const input = { ...target, now: service.now(), onlyIfCached: isOnlyIfCached(request) }
  const path = await followPath(deps, input)
  if (path.end === undefined) return answerMissing(asked, reader, path)
  const content: ContentRequest = { asked, reader, path, block: path.end }
  await sendResource(content, await resourceOf(deps, path.end))
}

async function sendResource(content: ContentRequest, resource: GatewayResource): Promise<void> {
  const { asked, reader } = content
  const { service, source, target } = asked
  const { format } = asked.asked
  if (format === 'tar') return sendTar(content, resource)
  switch (resource.kind) {
    case 'data':
      return sendData(content, resource)
    case 'symlink':
      refuseFormat(asked, ['json'])
      return sendSymlink(content, resource)
    case 'file': {
      refuseFormat(asked, ['json'])
      const isInFolder = target.segments.length > 0
      return sendFileAt(content, resource, { name: target.segments.at(-1), isInFolder })
    }
    case 'folder': {
      if (format === 'json') return sendListing(content, resource)
      refuseFormat(asked, [])
      if (!target.hasSlash) return sendRedirect(content, folderAddress(asked))
      const { roots } = content.path
      const index = await indexOf({ ...service, source, reader }, resource, { roots, segments: target.segments })
      if (index === undefined) return sendListing(content, resource)
      return sendFileAt(content, index, { name: 'index.html', isInFolder: true })
    }
  }
}

/** @throws {LadeError} `not_acceptable` for a format that this content does not have, when nothing else will do. */
function refuseFormat({ asked: { format, isOptional } }: GatewayRequest, given: readonly string[]): void {
  if (format === undefined || isOptional || given.includes(format)) return
  const reason = `This is UnixFS, which is not converted to ${format}. Leave the format out, or use format=raw to get the block.`
  throw new LadeError('not_acceptable', { reason })
}

/** The address of a folder, with its slash, and with what the query asks for. */
function folderAddress({ request, target, prefix }: GatewayRequest): string {
  const url = request.url ?? ''
  return folderAddressAt({ prefix }, target.path) + url.slice(pathOf(url).length)
}

/** @throws {LadeError} `bad_request`. */
function checkDownload({ query }: GatewayRequest): void {
  const download = query.get('download') ?? 'false'
  if (download !== 'true' && download !== 'false') {
    throw new LadeError('bad_request', { reason: 'download must be true or false.' })
  }
}
