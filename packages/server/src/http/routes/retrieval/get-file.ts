import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type ContentId, parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { checkToken } from '../../authenticate.ts'
import { CONTENT_GUARD } from '../../file-headers.ts'
import type { Query } from '../../query.ts'
import type { ResponseCache } from '../../response-cache.ts'
import type { Service } from '../../service.ts'
import { fileInside } from './file-inside.ts'
import { answerFolderCar, isPutTogether } from './get-file-path.ts'
import type { Offload } from './offload.ts'
import { refuseServiceWorker } from './refuse-service-worker.ts'
import { sendFile } from './send-file.ts'
import { visibleFile } from './visible-file.ts'

export interface GetFileInput {
  readonly cidText: string
  readonly query: Query
  readonly headers: OutgoingHttpHeaders
  readonly offload: Offload
}

/**
 * `GET|HEAD /p/{cid}`, and other addresses that lead to files.
 *
 * @param checkForm - throws for ids that are not looked for at this address.
 * @throws {LadeError} every refusal; the caller answers it.
 */
export async function getFile(
  service: Service,
  responseCache: ResponseCache | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  input: GetFileInput,
  checkForm: (cid: ContentId) => void = () => {},
): Promise<void> {
  const { query, headers, offload } = input
  Object.assign(headers, CONTENT_GUARD)
  refuseServiceWorker(request)
  checkDownload(query)
  const generation = responseCache?.generation() ?? 0
  const cid = parseContentId(input.cidText, sha256Hex)
  checkForm(cid)
  if (service.blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
  await checkToken(service, request, query)
  const visible = await visibleFile(service, request, cid, query)
  const found = visible.view === 'inside' ? await fileInside(service, cid, visible, request) : visible
  if (found.view === 'inside' || isPutTogether(found)) {
    await answerFolderCar(service, request, response, { query, headers, found })
    return
  }
  await sendFile(service, request, response, found, { cid, query, headers, responseCache, offload, generation })
}

/** @throws {LadeError} `bad_request`. */
function checkDownload(query: Query): void {
  const download = query.get('download') ?? 'false'
  if (download !== 'true' && download !== 'false') {
    throw new LadeError('bad_request', { reason: 'download must be true or false.' })
  }
}
