import { problem } from '@lade/core/wire'
import type { FastifyInstance } from 'fastify'
import type { Service } from '../service.ts'
import { documentedRoutes } from './documented-routes.ts'
import { GUIDES_PATH, introduction } from './introduction.ts'
import { type Operation, operationOf, type SecurityRequirement } from './operation.ts'
import { operationNames } from './operation-ids.ts'
import { problemResponses } from './problem-responses.ts'
import { RESPONSE_HEADERS } from './response-headers.ts'
import { type CodeSample, samplesOf } from './samples.ts'
import { SchemaComponents } from './schema-components.ts'
import { securitySchemesOf } from './security-schemes.ts'
import { writeServiceLimits } from './service-limits.ts'
import { WIRE_COMPONENTS } from './wire-components.ts'

const TAGS = [
  { name: 'uploads', description: 'Upload files' },
  { name: 'retrieval', description: 'Download files' },
  { name: 'tus', description: 'Uploads in several requests, by tus 1.0.0' },
  { name: 'lfs', description: 'Git LFS' },
  { name: 'files', description: 'Your files, their deals and your usage' },
  { name: 'tokens', description: 'Create and revoke bearer tokens' },
  { name: 'sessions', description: 'Sign in and out with a browser' },
  { name: 'wallets', description: 'Sign in with an Ethereum account' },
  { name: 'admin', description: 'For operators: callers, files, limits, audit log' },
  { name: 'operations', description: 'Health, readiness, limits' },
]

/**
 * The OpenAPI document of every route that is not hidden, generated from the schemas that validate.
 *
 * It is written here rather than by @fastify/swagger, which knows neither headers of responses nor bodies of several media types, and gives
 * two operations of one route the same name.
 */
export function apiDocument(
  app: FastifyInstance,
  service: Pick<Service, 'config' | 'version' | 'walletChains' | 'publicUrl'>,
) {
  const { config, version } = service
  const url = service.publicUrl()
  const components = new SchemaComponents(WIRE_COMPONENTS)
  components.schemaOf(problem, 'output')
  const nameOf = operationNames()
  const securitySchemes = securitySchemesOf(service)
  const securityOf = (declared: readonly SecurityRequirement[], hasQueryToken: boolean) =>
    [...declared, ...(declared.length > 0 && hasQueryToken ? [{ queryToken: [] }] : [])].filter((requirement) =>
      Object.keys(requirement).every((scheme) => scheme in securitySchemes),
    )
  const paths: Record<string, Record<string, Operation & { readonly 'x-codeSamples': readonly CodeSample[] }>> = {}
  for (const route of documentedRoutes(app)) {
    const { method, path, schema } = route
    const operation = operationOf(route, nameOf(method, path, schema.operationId), components, securityOf)
    const samples = samplesOf(url, method, path, operation)
    paths[path] = { ...paths[path], [method]: { ...operation, 'x-codeSamples': samples } }
  }
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  writeServiceLimits(operations, components.schemas, config)
  const used = new Set(operations.flatMap(({ tags }) => tags))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lade',
      version,
      description: introduction(url),
      contact: { name: 'Lade', url: `${url}${GUIDES_PATH}` },
      license: { name: 'Apache-2.0 OR MIT', identifier: 'Apache-2.0 OR MIT' },
    },
    externalDocs: { description: 'Guides', url: `${url}${GUIDES_PATH}` },
    servers: [{ url: '/', description: 'This service' }],
    tags: TAGS.filter(({ name }) => used.has(name)),
    paths,
    components: {
      schemas: components.schemas,
      responses: problemResponses(operations),
      headers: RESPONSE_HEADERS,
      securitySchemes,
    },
  }
}
