import type { FastifyInstance } from 'fastify'

/** A path that some route answers. */
export interface KnownPath {
  /** As the route declares it, such as `/api/files/:cid`. */
  readonly url: string
  readonly pattern: RegExp
  readonly methods: readonly string[]
}

const known = new WeakMap<FastifyInstance, KnownPath[]>()

/** Remembers which methods each path answers, so that another method gets 405 and not 404. Call before any route. */
export function rememberRoutes(app: FastifyInstance): void {
  const routes: KnownPath[] = []
  known.set(app, routes)
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = url
      .replace(/[.]/g, '\\.')
      .replace(/:[a-zA-Z]+/g, '[^/]+')
      .replace(/\*$/, '.*')
    const methods = (Array.isArray(method) ? method : [method]).filter((name) => name !== 'OPTIONS')
    if (methods.length > 0) routes.push({ url, pattern: new RegExp(`^${pattern}$`), methods })
  })
}

/** Every path that some route answers. */
export function knownPaths(app: FastifyInstance): readonly KnownPath[] {
  return known.get(app) ?? []
}

/** The methods that some route answers at this path, in alphabetical order. */
export function methodsAt(app: FastifyInstance, path: string): readonly string[] {
  const methods = knownPaths(app)
    .filter(({ pattern }) => pattern.test(path))
    .flatMap((route) => route.methods)
  return [...new Set(methods)].sort()
}
