import type { FastifyInstance } from 'fastify'

const known = new WeakMap<FastifyInstance, { readonly pattern: RegExp; readonly methods: readonly string[] }[]>()

/** Remembers which methods each path answers, so that another method gets 405 and not 404. Call before any route. */
export function rememberRoutes(app: FastifyInstance): void {
  const routes: { pattern: RegExp; methods: readonly string[] }[] = []
  known.set(app, routes)
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = url
      .replace(/[.]/g, '\\.')
      .replace(/:[a-zA-Z]+/g, '[^/]+')
      .replace(/\*$/, '.*')
    const methods = (Array.isArray(method) ? method : [method]).filter((name) => name !== 'OPTIONS')
    if (methods.length > 0) routes.push({ pattern: new RegExp(`^${pattern}$`), methods })
  })
}

/** The methods that some route answers at this path, in alphabetical order. */
export function methodsAt(app: FastifyInstance, path: string): readonly string[] {
  const methods = (known.get(app) ?? []).filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods)
  return [...new Set(methods)].sort()
}
