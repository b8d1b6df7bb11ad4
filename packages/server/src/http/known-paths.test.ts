import fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { methodsAt, rememberRoutes } from './known-paths.ts'

function appWithRoutes(): FastifyInstance {
  const app = fastify({ exposeHeadRoutes: false })
  rememberRoutes(app)
  const handler = () => 'ok'
  app.get('/openapi.json', handler)
  app.route({ method: ['GET', 'HEAD'], url: '/p/:cid', handler })
  app.route({ method: ['GET', 'HEAD'], url: '/p/*', handler })
  app.post('/p/:cid/challenge', handler)
  app.get('/api/files/:cid', handler)
  app.delete('/api/files/:cid', handler)
  app.post('/api/files/:cid/share', handler)
  app.options('/only-options', handler)
  return app
}

describe('methodsAt', () => {
  it.each([
    ['/openapi.json', ['GET']],
    ['/p/bafkreiabc', ['GET', 'HEAD']],
    ['/p/', ['GET', 'HEAD']],
    ['/p/a/b', ['GET', 'HEAD']],
    ['/p/a/challenge', ['POST']],
    ['/api/files/x', ['DELETE', 'GET']],
    ['/api/files/x/share', ['POST']],
  ])('names the methods of %s once each, in alphabetical order', (path, methods) => {
    expect(methodsAt(appWithRoutes(), path)).toEqual(methods)
  })

  it.each([
    '/',
    '',
    '/openapiXjson',
    '/p',
    '/api/files',
    '/api/files/',
    '/api/files/x/y',
    '/only-options',
    '/API/files/x',
  ])('names none for %j', (path) => expect(methodsAt(appWithRoutes(), path)).toEqual([]))

  it('names none for an app whose routes were not remembered', () => {
    expect(methodsAt(fastify(), '/p/x')).toEqual([])
  })
})
