import { LadeError } from '@lade/core/errors'
import { jwksResult } from '@lade/core/wire'
import type { Service } from '../../service.ts'
import { problems, type Routes } from '../routes.ts'

/** RFC 7517, section 8.5.2. */
const MEDIA_TYPE = 'application/jwk-set+json'

/** After a rotation, whoever has asked before may take tokens of the old key for this much longer. */
const CACHE_SECONDS = 300

/** Where tokens are signed with a key pair: `/.well-known/jwks.json`, the public keys that they can be checked by. */
export function jwksRoute(app: Routes, service: Service): void {
  if (service.config.tokenAlg === 'HS256') return
  app.get(
    '/.well-known/jwks.json',
    {
      schema: {
        tags: ['tokens'],
        operationId: 'getKeySet',
        summary: 'Get the public keys of the tokens',
        description:
          'The RS256 key of this service, and previous keys that it still accepts. With them, anyone can verify who signed a token, but not whether it was revoked ' +
          'since.',
        response: {
          200: { description: 'A JWK set', content: { [MEDIA_TYPE]: { schema: jwksResult } } },
          ...problems(401, 503),
        },
      },
    },
    async (_request, reply) => {
      const accepted = service.keys.current().accepted(new Date(service.now()))
      const keys = accepted.map(({ publicJwk }) => publicJwk).filter((publicJwk) => publicJwk !== undefined)
      if (keys.length === 0) throw new LadeError('auth_offline', {})
      reply.header('cache-control', `public, max-age=${CACHE_SECONDS}`)
      return reply.type(MEDIA_TYPE).send({ keys })
    },
  )
}
