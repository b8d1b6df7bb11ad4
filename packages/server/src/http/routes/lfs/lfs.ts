import type { IncomingMessage } from 'node:http'
import { parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import {
  LFS_MEDIA_TYPE,
  type LfsAnswer,
  type LfsObject,
  lfsBatchRequest,
  lfsBatchResult,
  MAX_LFS_BODY_BYTES,
  uploadResult,
} from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import * as z from 'zod'
import { type FindObjectsInput, findOwnObjects, findVisibleObjects, keptAs } from '../../../lfs/find-objects.ts'
import { requireScope } from '../../../tokens/authorize.ts'
import type { UploadHead } from '../../../uploads/admit-upload.ts'
import { findCaller, requireCaller } from '../../authenticate.ts'
import type { Caller } from '../../caller.ts'
import { rightsOf } from '../../caller-rights.ts'
import { declaredBytes } from '../../framing.ts'
import { pathOf, queryOf } from '../../query.ts'
import type { Service } from '../../service.ts'
import { answerRaw } from '../raw-route.ts'
import { bytes, problems, type Routes, security, takenOver } from '../routes.ts'
import { takeUpload } from '../uploads/create.ts'
import { accountTierOf } from '../uploads/tier-of.ts'
import { LFS_HEADERS, readBasicToken } from './lfs-caller.ts'
import { downloadAnswer, uploadAnswer } from './object-answers.ts'

const repositoryParams = z.object({
  repository: z
    .string()
    .regex(/^[\w.-]{1,100}$/)
    .describe('Any name. The objects are those of the token, whatever the name.'),
})

/** `/lfs/{repository}/objects/batch` and `/lfs/{repository}/objects/{oid}`: the Git LFS API with basic transfers. */
export function lfsRoutes(app: Routes, service: Service): void {
  app.post(
    '/lfs/:repository/objects/batch',
    {
      bodyLimit: MAX_LFS_BODY_BYTES,
      schema: {
        tags: ['lfs'],
        operationId: 'findLfsObjects',
        summary: 'Git LFS: find out what to upload, or where to download',
        description:
          'Scope put to upload, get to download your own objects; public objects need no token. The token is the password of ' +
          'Basic credentials, or a bearer token. Objects are files whose cid is the oid. A file of yours gets the longest term ' +
          'from now on if the token has the scope pin.',
        params: repositoryParams,
        body: lfsBatchRequest,
        consumes: [LFS_MEDIA_TYPE, 'application/json'],
        security: [{}, ...security],
        response: {
          200: { description: 'The objects', content: { [LFS_MEDIA_TYPE]: { schema: lfsBatchResult } } },
          ...problems(400, 401, 403, 413, 503),
        },
      },
      onRequest: async (request, reply) => {
        reply.headers(LFS_HEADERS)
        readBasicToken(request.raw)
      },
    },
    async (request, reply) => {
      reply.type(LFS_MEDIA_TYPE)
      const { operation, objects } = request.body
      const { repository } = request.params
      const answers = await (operation === 'upload'
        ? answerUpload(service, request.raw, { objects, repository })
        : answerDownload(service, request.raw, objects))
      return { transfer: 'basic' as const, objects: [...answers], hash_algo: 'sha256' as const }
    },
  )

  app.put(
    '/lfs/:repository/objects/:oid',
    {
      schema: {
        tags: ['lfs'],
        operationId: 'uploadLfsObject',
        summary: 'Git LFS: upload an object',
        description:
          'Scope put. The same as an upload of a file under its oid, with the longest term, and private where the account ' +
          'can have private files.',
        params: repositoryParams.extend({ oid: z.string().describe('The SHA-256 of the body, as 64 hex digits') }),
        body: bytes,
        consumes: ['application/octet-stream', '*/*'],
        security,
        response: {
          200: uploadResult.describe('Stored'),
          ...problems(400, 401, 403, 408, 409, 413, 415, 422, 429, 451, 502, 503, 507),
        },
      },
      onRequest: async (request, reply) => {
        reply.hijack()
        readBasicToken(request.raw)
        await answerRaw(
          service,
          async (raw, response, { headers }) => {
            const caller = await requireCaller(service, raw, queryOf(raw.url ?? '/'), 'put')
            const tier = await accountTierOf(service, raw, caller)
            const { maxTermDays: termDays } = tier
            const head = { ...(await headOf(service, raw, caller)), termDays }
            await takeUpload(service, raw, response, { head, tier, headers })
          },
          request.raw,
          reply.raw,
          { ...LFS_HEADERS },
        )
      },
    },
    takenOver,
  )
}

async function answerUpload(
  service: Service,
  request: IncomingMessage,
  { objects, repository }: { readonly objects: readonly LfsObject[]; readonly repository: string },
): Promise<readonly LfsAnswer[]> {
  const caller = await requireCaller(service, request, queryOf(request.url ?? '/'), 'put')
  const tier = await accountTierOf(service, request, caller)
  const found = await findOwnObjects(service, inputFor(service, caller, objects))
  const visibility = visibilityFor(service, caller)
  const urlOf = (oid: string) => `${service.publicUrl()}/lfs/${repository}/objects/${oid}`
  return objects.map((object, index) => uploadAnswer(object, found[index], { tier, visibility, urlOf }))
}

async function answerDownload(
  service: Service,
  request: IncomingMessage,
  objects: readonly LfsObject[],
): Promise<readonly LfsAnswer[]> {
  const caller = await findCaller(service, request, queryOf(request.url ?? '/'))
  if (caller !== undefined) requireScope(caller, 'get')
  const found = await findVisibleObjects(service, inputFor(service, caller, objects))
  // It may be a private one, and git asks its user for a token then.
  if (caller === undefined && found.some(({ outcome }) => outcome === 'absent')) throw new LadeError('no_token', {})
  return objects.map((object, index) => downloadAnswer(object, found[index], { service, caller }))
}

function inputFor(service: Service, caller: Caller | undefined, objects: readonly LfsObject[]): FindObjectsInput {
  const renewDays = caller?.scopes.includes('pin') === true ? service.config.termMaxDays : undefined
  return { objects, principal: caller?.principal, renewDays, now: service.filesNow() }
}

function visibilityFor(service: Service, caller: Caller): 'private' | 'public' {
  return rightsOf(service, caller).isVerified ? 'private' : 'public'
}

/** @throws {LadeError} `invalid_cid`, `no_body`, `storage_failed`. */
async function headOf(
  service: Service,
  request: IncomingMessage,
  caller: Caller,
): Promise<Omit<UploadHead, 'termDays'>> {
  const oid =
    pathOf(request.url ?? '/')
      .split('/')
      .at(-1) ?? ''
  if (!/^[0-9a-f]{64}$/.test(oid)) {
    throw new LadeError('invalid_cid', { reason: 'The oid must be a SHA-256 as 64 lower-case hex digits.' })
  }
  const sizeBytes = declaredBytes(request)
  if (sizeBytes === undefined) throw new LadeError('no_body', {})
  const kept = await keptAs(service.records, { principal: caller.principal, oid, now: service.filesNow() })
  return {
    cid: parseContentId(oid, sha256Hex),
    sizeBytes,
    contentType: kept?.contentType ?? 'application/octet-stream',
    filename: kept?.filename ?? null,
    visibility: kept?.visibility ?? visibilityFor(service, caller),
    // Other bytes are 400 `digest_mismatch` then. git-lfs takes 422 for a dislike of the Content-Type, and its push succeeds.
    sha256: oid,
  }
}
