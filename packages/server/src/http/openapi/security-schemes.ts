import type { Service } from '../service.ts'
import { sessionCookieOf } from '../session-cookie.ts'

/** How callers of this service authenticate: the ways that its settings leave open. */
export function securitySchemesOf({
  config,
  walletChains,
  publicUrl,
}: Pick<Service, 'config' | 'walletChains' | 'publicUrl'>) {
  const { name: cookieName } = sessionCookieOf(publicUrl())
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'A token of POST /api/auth/signup: pk_live_ followed by a JWT',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: cookieName,
      description: 'The session of a browser, set by POST /api/session; changes need the Origin of this service',
    },
    ...(config.queryToken === 'accept' && {
      queryToken: {
        type: 'apiKey',
        in: 'query',
        name: 'token',
        description: 'Deprecated: the token in the query. Logs and histories keep it; use the Authorization header',
      },
    }),
    ...(walletChains !== undefined && {
      walletInput: {
        type: 'apiKey',
        in: 'header',
        name: 'Signature-Input',
        description: 'What a wallet signed of the request (ERC-8128, RFC 9421); sent with Signature',
      },
      walletSignature: {
        type: 'apiKey',
        in: 'header',
        name: 'Signature',
        description: 'The signature of the wallet; sent with Signature-Input',
      },
    }),
    ...(config.metricsToken !== undefined && {
      metrics: { type: 'http', scheme: 'bearer', description: 'The token of LADE_METRICS_TOKEN' },
    }),
  } as const
}
