import type { FastifySchema } from 'fastify'
import * as z from 'zod'
import type { DocumentedRoute } from './documented-routes.ts'
import { pascalCase } from './operation-ids.ts'
import { commonStatuses, problemResponse } from './problem-responses.ts'
import { headersOf, type ResponseHeader } from './response-headers.ts'
import type { JsonSchema, SchemaComponents } from './schema-components.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Headers of responses, by status; those of errors, and X-Request-Id, are known without. */
    readonly responseHeaders?: Readonly<Record<number, readonly ResponseHeader[]>>
  }
}

/** A way to authenticate: the schemes that belong together. None is anonymous. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>

/** A parameter object of OpenAPI 3.1. */
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: true
  readonly description?: string
  readonly schema: JsonSchema
}

/** An operation object of OpenAPI 3.1. */
export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security: readonly SecurityRequirement[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: true; readonly content: Content }
  readonly responses: Readonly<Record<string, object>>
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>

interface ContentResponse {
  readonly description?: string
  readonly content: Readonly<Record<string, { readonly schema: z.core.$ZodType }>>
}

/** OpenAPI describes these elsewhere: as security, and with the body. */
const NOT_PARAMETERS = ['accept', 'authorization', 'content-type']
const QUERY_TOKEN = 'token'
/** Checked by supervisors and scrapers, which send no token of the API. */
const WITHOUT_CREDENTIALS = 'operations'

/**
 * The operation that a route declares.
 *
 * @param securityOf - what the service accepts of the ways to authenticate that a route names.
 */
export function operationOf(
  { method, schema }: DocumentedRoute,
  operationId: string,
  components: SchemaComponents,
  securityOf: (declared: readonly SecurityRequirement[], hasQueryToken: boolean) => readonly SecurityRequirement[],
): Operation {
  const { tags = [], summary = '', description, params, querystring, headers, body, security = [] } = schema
  const inQuery = parametersOf(components, querystring, 'query')
  const parameters = [
    ...parametersOf(components, params, 'path'),
    ...inQuery.filter(({ name }) => name !== QUERY_TOKEN),
    ...parametersOf(components, headers, 'header').filter(({ name }) => !NOT_PARAMETERS.includes(name)),
  ]
  const hasQueryToken = inQuery.some(({ name }) => name === QUERY_TOKEN)
  const content = contentOf(components, schema, operationId)
  return {
    operationId,
    tags: [...tags],
    summary,
    ...(description !== undefined && { description }),
    security: securityOf(security, hasQueryToken),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, content } }),
    responses: responsesOf(components, schema, { operationId, isHead: method === 'head' }),
  }
}

function parametersOf(components: SchemaComponents, schema: unknown, place: Parameter['in']): Parameter[] {
  if (!isZod(schema)) return []
  const { properties = {}, required = [] } = components.schemaOf(schema, 'input')
  return Object.entries(properties).map(([name, value]) => {
    const { description, ...rest } = value as JsonSchema
    return {
      name,
      in: place,
      ...(required.includes(name) && { required: true }),
      ...(description !== undefined && { description }),
      schema: rest,
    }
  })
}

function contentOf(components: SchemaComponents, { body, consumes }: FastifySchema, operationId: string): Content {
  if (!isZod(body)) return {}
  const schema = components.referenceTo(body, 'input', `${pascalCase(operationId)}Request`)
  return Object.fromEntries((consumes ?? ['application/json']).map((type) => [type, { schema }]))
}

function responsesOf(
  components: SchemaComponents,
  { response, responseHeaders = {}, body, tags = [] }: FastifySchema,
  { operationId, isHead }: { readonly operationId: string; readonly isHead: boolean },
): Record<string, object> {
  const responses: Record<string, object> = {}
  const common = commonStatuses({ hasBody: body !== undefined, hasCredentials: !tags.includes(WITHOUT_CREDENTIALS) })
  for (const status of common) responses[status] = problemResponse(status)
  const name = `${pascalCase(operationId)}Result`
  for (const [status, declared] of Object.entries((response ?? {}) as Record<string, unknown>)) {
    const { description, content } = isContent(declared) ? declared : jsonOf(declared)
    const described = Object.entries(content).map(
      ([type, { schema }]) => [type, { schema: components.referenceTo(schema, 'output', name) }] as const,
    )
    const isProblem = described.some(([, { schema }]) => schema.$ref === '#/components/schemas/Problem')
    responses[status] = isProblem
      ? problemResponse(Number(status))
      : {
          description: description ?? '',
          headers: headersOf(['X-Request-Id', ...(responseHeaders[Number(status)] ?? [])]),
          ...(described.length > 0 && !isHead && { content: Object.fromEntries(described) }),
        }
  }
  return responses
}

function jsonOf(schema: unknown): ContentResponse {
  if (!isZod(schema)) return { content: {} }
  const { description } = z.globalRegistry.get(schema) ?? {}
  return { ...(description !== undefined && { description }), content: { 'application/json': { schema } } }
}

function isContent(value: unknown): value is ContentResponse {
  return typeof value === 'object' && value !== null && 'content' in value
}

function isZod(value: unknown): value is z.core.$ZodType {
  return value instanceof z.core.$ZodType
}
