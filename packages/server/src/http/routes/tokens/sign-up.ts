import { LadeError } from '@lade/core/errors'
import { signupRequest, signupResult, startRequest, startResult, verifyRequest } from '@lade/core/wire'
import type { FastifyRequest } from 'fastify'
import { addressPrincipal } from '../../../quotas/principal.ts'
import type { SessionRecord } from '../../../records/record-store.ts'
import { redeemLoginCode } from '../../../tokens/redeem-login-code.ts'
import { sendLoginCode } from '../../../tokens/send-login-code.ts'
import { signUp } from '../../../tokens/sign-up.ts'
import type { TokenClaims } from '../../../tokens/token-claims.ts'
import { isOfWallet } from '../../../tokens/wallet-claims.ts'
import { credentialsOf } from '../../authenticate.ts'
import { isFromThisMachine, isOfForeignOrigin } from '../../known-host.ts'
import { queryOf } from '../../query.ts'
import type { Service } from '../../service.ts'
import { sessionOfRequest } from '../../session-request.ts'
import { problems, type Routes, tokenQuery } from '../routes.ts'

/** `/api/auth/signup`; where signup is by email, also `/api/auth/start` and `/api/auth/verify`. */
export function signUpRoutes(app: Routes, service: Service): void {
  const { config, mailer } = service
  const { quotaMb } = config.token
  const addressOf = (request: Pick<FastifyRequest, 'raw'>) => addressPrincipal(service.clientAddress(request.raw))

  app.post(
    '/api/auth/signup',
    {
      schema: {
        tags: ['tokens'],
        operationId: 'signUp',
        summary: 'Get a token',
        description:
          'Creates a token for an email address. Each call creates another; earlier ones stay valid. The token is ' +
          'shown only in this response. If signup is by email, it needs a token or a session of the same address, and the new ' +
          'token has at most its rights and lifetime. Without either, use /api/auth/start.',
        querystring: tokenQuery,
        security: [{}, { bearer: [] }, { session: [] }],
        body: signupRequest,
        response: {
          200: signupResult.describe('The token; it is not shown again'),
          ...problems(400, 401, 403, 429, 503),
        },
      },
    },
    async (request) => {
      const urls = { publicUrl: service.publicUrl(), contentUrl: config.contentUrl }
      if (config.signup === 'open' && isOfForeignOrigin(request.raw, urls)) {
        throw new LadeError('foreign_origin', { origin: String(request.headers.origin) })
      }
      const isUnlimited = isFromThisMachine(request.raw, { host: config.host, publicUrl: urls.publicUrl })
      const signupsPerHour = isUnlimited ? Number.POSITIVE_INFINITY : config.signupsPerHour
      const rules = { signup: config.signup, quotaMb, signupsPerHour }
      const bearer = () => bearerOf(service, request)
      const session = await sessionWithoutToken(service, request)
      return signUp(service, rules, { request: request.body, address: addressOf(request), bearer, session })
    },
  )

  if (mailer === undefined) return

  app.post(
    '/api/auth/start',
    {
      schema: {
        tags: ['tokens'],
        operationId: 'startLogin',
        summary: 'Request a login code by mail',
        description:
          'Mails a login code of six digits to the address, and returns its challenge. The response is the same ' +
          'whether or not the address is known.',
        body: startRequest,
        response: { 200: startResult.describe('The mail was sent'), ...problems(400, 401, 429, 503) },
      },
    },
    async (request) => {
      const { signupsPerHour } = config
      return sendLoginCode(
        { ...service, mailer },
        { request: request.body, address: addressOf(request), signupsPerHour },
      )
    },
  )

  app.post(
    '/api/auth/verify',
    {
      schema: {
        tags: ['tokens'],
        operationId: 'verifyLogin',
        summary: 'Exchange a login code for a token',
        description:
          'A login code allows five attempts within 15 minutes and gives one token. From the IP address that requested the code, ' +
          'you can send the email address instead of the challenge. The token is shown only in this response.',
        body: verifyRequest,
        response: { 200: signupResult.describe('The token; it is not shown again'), ...problems(400, 401, 403, 503) },
      },
    },
    async (request) => redeemLoginCode(service, { request: request.body, address: addressOf(request), quotaMb }),
  )
}

/** The session that the request is sent by; undefined for one with a token, which counts before the cookie. */
async function sessionWithoutToken(
  service: Service,
  request: Pick<FastifyRequest, 'raw'>,
): Promise<SessionRecord | undefined> {
  const credentials = credentialsOf(request.raw, queryOf(request.raw.url ?? '/'), service.config.queryToken, 'ignore')
  return credentials === undefined ? sessionOfRequest(service, request.raw) : undefined
}

async function bearerOf(service: Service, request: Pick<FastifyRequest, 'raw'>): Promise<TokenClaims | undefined> {
  const credentials = credentialsOf(request.raw, queryOf(request.raw.url ?? '/'), service.config.queryToken)
  if (credentials === undefined) return undefined
  const claims = await service.authorizer.authorize(credentials.token)
  return isOfWallet(claims) ? undefined : claims
}
