import type { IncomingMessage } from 'node:http'
import { LadeError } from '@lade/core/errors'
import type { FastifyInstance } from 'fastify'
import { pathOf } from './query.ts'

/** A path that some route answers. */
export interface KnownPath {
  /** As the route declares it, such as `/api/files/:cid`. */
  readonly url: string
  readonly pattern: RegExp
  /** True for one that takes whatever no other route takes. */
  readonly isCatchAll: boolean
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
    const isCatchAll = url.endsWith('*')
    if (methods.length > 0) routes.push({ url, pattern: new RegExp(`^${pattern}$`), isCatchAll, methods })
  })
}

/** Every path that some route answers. */
export function knownPaths(app: FastifyInstance): readonly KnownPath[] {
  return known.get(app) ?? []
}

/**
 * The methods that some route answers at this path, in alphabetical order. Routes that catch whatever is left count where no other does.
 */
export function methodsAt(app: FastifyInstance, path: string): readonly string[] {
  const matching = knownPaths(app).filter(({ pattern }) => pattern.test(path))
  const exact = matching.filter(({ isCatchAll }) => !isCatchAll)
  const methods = (exact.length > 0 ? exact : matching).flatMap((route) => route.methods)
  return [...new Set(methods)].sort()
}

/** Said to who sends a file to an address that takes none. */
export const UPLOAD_HINT = 'To upload a file, use POST /api/upload?cid=…'

/** What a method that does not exist at a path was probably meant to do. */
const HINTS: readonly { readonly of: RegExp; readonly methods: readonly string[]; readonly hint: string }[] = [
  { of: /^\/(?:api\/files|api\/upload\/[^/]+|p\/[^/]+)$/, methods: ['POST', 'PUT'], hint: UPLOAD_HINT },
  { of: /^\/p\/[^/]+$/, methods: ['DELETE'], hint: 'To remove a file, use DELETE /api/files/{cid}.' },
]

/** What is wrong with the method of a request; nothing at a path that no route answers. */
export function methodProblem(
  app: FastifyInstance,
  { method = '', url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
): LadeError<'method_not_allowed'> | undefined {
  const allow = methodsAt(app, pathOf(url))
  if (allow.length === 0 || method === 'OPTIONS' || allow.includes(method)) return undefined
  const hint = HINTS.find(({ of, methods }) => methods.includes(method) && of.test(pathOf(url)))?.hint
  return new LadeError('method_not_allowed', { allow, method, ...(hint !== undefined && { hint }) })
}
