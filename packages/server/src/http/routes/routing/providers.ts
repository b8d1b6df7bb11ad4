import { parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { cidText, NDJSON_MEDIA_TYPE, providersQuery, providersResult } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { CID } from 'multiformats/cid'
import * as z from 'zod'
import { findProviders } from '../../../gateway/find-providers.ts'
import { openPeerId } from '../../../gateway/peer-id.ts'
import { cidOf } from '../../../retrieval/content-cid.ts'
import type { Service } from '../../service.ts'
import { acceptedTypes } from '../gateway/accept.ts'
import { problems, type Routes } from '../routes.ts'

/** How long caches may name this service for what it has, and how long they may say that nobody has it. */
const FOUND_SECONDS = 60
const ABSENT_SECONDS = 15

/** `GET /routing/v1/providers/{cid}`: the Delegated Routing V1 HTTP API, for what this service can serve itself. */
export function providerRoutes(app: Routes, service: Service): void {
  const { records } = service
  let opened: Promise<string> | undefined
  const peerId = (): Promise<string> => {
    opened ??= openPeerId(records.secrets).catch((error: unknown) => {
      // The next request tries again.
      opened = undefined
      throw error
    })
    return opened
  }

  app.get(
    '/routing/v1/providers/:cid',
    {
      schema: {
        tags: ['retrieval'],
        operationId: 'findProviders',
        summary: 'Find out whether this service can serve a block',
        description:
          'The Delegated Routing V1 HTTP API of IPFS. Names the trustless gateway of this service for public content that it can serve now, ' +
          `and an empty list for anything else. With Accept: ${NDJSON_MEDIA_TYPE}, one record a line.`,
        params: z.object({ cid: cidText.describe('A CID of a block') }),
        querystring: providersQuery,
        response: { 200: providersResult.describe('This service, or an empty list'), ...problems(400, 503) },
      },
    },
    async (request, reply) => {
      const cid = blockCidOf(request.params.cid)
      const { 'filter-protocols': filterProtocols = '', 'filter-addrs': filterAddrs = '' } = request.query
      const records = await findProviders({ ...service, peerId }, { cid, filterProtocols, filterAddrs })
      const seconds = records.length === 0 ? ABSENT_SECONDS : FOUND_SECONDS
      reply.headers({ 'cache-control': `public, max-age=${seconds}`, vary: 'Accept' })
      if (!prefersLines(request.headers.accept)) return { Providers: records }
      // The schema describes the other form.
      const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('') as never
      return reply.type(NDJSON_MEDIA_TYPE).send(lines)
    },
  )
}

function blockCidOf(text: string): CID {
  const { cid } = parseContentId(text, sha256Hex)
  if (cid === undefined) throw new LadeError('invalid_cid', { reason: '/routing/v1/providers/ accepts only CIDs.' })
  return cidOf(cid)
}

/** True when `Accept` wants lines before JSON. */
function prefersLines(accept: string | undefined): boolean {
  const types = acceptedTypes(accept).map(({ mediaType }) => mediaType)
  return types.find((type) => type === NDJSON_MEDIA_TYPE || type === 'application/json') === NDJSON_MEDIA_TYPE
}
