import type { FastifyInstance, FastifySchema } from 'fastify'
import { routeTemplate } from '../route-template.ts'

/** An address of the API with one of its methods, as its route declares it. */
export interface DocumentedRoute {
  /** Lower case, as OpenAPI has it. */
  readonly method: string
  /** @example '/api/files/{cid}' */
  readonly path: string
  readonly schema: FastifySchema
}

const noted = new WeakMap<FastifyInstance, DocumentedRoute[]>()

/** Notes every route that has a schema and is not hidden. Call before any route. */
export function noteRoutes(app: FastifyInstance): void {
  const routes: DocumentedRoute[] = []
  noted.set(app, routes)
  app.addHook('onRoute', ({ url, method, schema }) => {
    // The framework makes routes of HEAD alone, one for each GET; HEAD of files and blocks is declared together with GET.
    if (schema === undefined || schema.hide === true || method === 'HEAD') return
    const path = routeTemplate(url) ?? url
    for (const name of [method].flat()) routes.push({ method: name.toLowerCase(), path, schema })
  })
}

/** The routes in the order in which they were declared. */
export function documentedRoutes(app: FastifyInstance): readonly DocumentedRoute[] {
  return noted.get(app) ?? []
}
