import { LadeError } from '@lade/core/errors'
import { jwksResult } from '@lade/core/wire'
import type { Service } from '../../service.ts'
import { problems, type Routes } from '../routes.ts'

/** RFC 7517, section 8.5.2. */
const MEDIA_TYPE = 'application/jwk-set+json'

/** After a rotation, whoever has asked before may take tokens of the old key for this much longer. */
const CACHE_SECONDS = 300

/** Where tokens are signed with a key pair: `/.well-known/jwks.json`, the public key that they can be checked by. */
export function jwksRoute(app: Routes, service: Service): void {
  if (service.config.tokenAlg === 'HS256') return
  app.get(
    '/.well-known/jwks.json',
    {
      schema: {
        tags: ['tokens'],
        summary: 'Get the public key of the tokens',
        description:
          'The RS256 key of this service. With it, anyone can verify who signed a token, but not whether it was revoked ' +
          'since.',
        response: { 200: jwksResult.describe('A JWK set'), ...problems(503) },
      },
    },
    async (_request, reply) => {
      const { publicJwk } = service.keys.current()
      if (publicJwk === undefined) throw new LadeError('auth_offline', {})
      reply.header('cache-control', `public, max-age=${CACHE_SECONDS}`)
      return reply.type(MEDIA_TYPE).send({ keys: [publicJwk] })
    },
  )
}
