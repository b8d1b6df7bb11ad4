import { createHash } from 'node:crypto'
import { ERROR_SENTENCES } from '@lade/core/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type RunningService, runService } from '../../../testing/running/running-service.ts'

interface Operation {
  readonly summary?: string
  readonly responses: Record<string, { readonly description?: string; readonly content?: object }>
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
}
interface Document {
  readonly openapi: string
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly securitySchemes: object; readonly schemas?: object }
}

/** Every route that is documented, and the statuses that its contract names. */
const ROUTES: Record<string, readonly number[]> = {
  'POST /api/upload': [200, 400, 401, 403, 408, 409, 411, 413, 415, 422, 429, 451, 502, 503, 507],
  'PUT /api/upload': [200, 400, 401, 403, 408, 409, 411, 413, 415, 422, 429, 451, 502, 503, 507],
  'POST /api/directories': [200, 400, 401, 403, 404, 409, 413, 422, 429, 451, 503, 507],
  'POST /api/batches': [200, 400, 401, 403, 408, 411, 413, 415, 429, 503],
  'POST /api/compose': [200, 400, 401, 403, 409, 413, 422, 429, 451, 502, 503],
  'GET /p/{cid}': [200, 206, 304, 400, 401, 403, 404, 410, 412, 416, 451, 503],
  'HEAD /p/{cid}': [200, 206, 304, 400, 401, 403, 404, 410, 412, 416, 451, 503],
  'GET /ipfs/{cid}': [200, 206, 301, 304, 400, 401, 403, 404, 406, 410, 412, 416, 429, 451, 501, 503],
  'GET /ipfs/{cid}/{path}': [200, 206, 301, 304, 400, 401, 403, 404, 406, 410, 412, 416, 429, 451, 501, 503],
  'GET /p/{cid}/{path}': [200, 206, 301, 304, 400, 401, 403, 404, 406, 410, 412, 416, 429, 451, 501, 503],
  'HEAD /ipfs/{cid}': [200, 206, 301, 304, 400, 401, 403, 404, 406, 410, 412, 416, 429, 451, 501, 503],
  'HEAD /ipfs/{cid}/{path}': [200, 206, 301, 304, 400, 401, 403, 404, 406, 410, 412, 416, 429, 451, 501, 503],
  'HEAD /p/{cid}/{path}': [200, 206, 301, 304, 400, 401, 403, 404, 406, 410, 412, 416, 429, 451, 501, 503],
  'PATCH /api/upload/{id}': [200, 204, 400, 401, 403, 404, 408, 409, 411, 413, 415, 422, 423, 429, 451, 502, 503, 507],
  'DELETE /api/upload/{id}': [204, 401, 403, 404, 503],
  'POST /api/tus': [201, 400, 401, 403, 404, 408, 409, 411, 412, 413, 415, 422, 429, 451, 460, 502, 503, 507],
  'PATCH /api/tus/{id}': [
    204, 400, 401, 403, 404, 408, 409, 411, 412, 413, 415, 422, 423, 429, 451, 460, 502, 503, 507,
  ],
  'DELETE /api/tus/{id}': [204, 401, 403, 404, 412, 503],
  'POST /lfs/{repository}/objects/batch': [200, 400, 401, 403, 413, 503],
  'PUT /lfs/{repository}/objects/{oid}': [200, 400, 401, 403, 408, 409, 413, 415, 422, 429, 451, 502, 503, 507],
  'GET /piece/{pieceCid}': [200, 206, 304, 400, 401, 403, 404, 410, 412, 416, 451, 503],
  'HEAD /piece/{pieceCid}': [200, 206, 304, 400, 401, 403, 404, 410, 412, 416, 451, 503],
  'GET /pdp/ping': [200, 503],
  'GET /pdp/piece': [200, 400, 404, 451, 503],
  'GET /routing/v1/providers/{cid}': [200, 400, 503],
  'GET /api/piece-cids': [200, 400, 401, 403, 503],
  'POST /api/piece-cids': [200, 400, 401, 403, 413, 503],
  'GET /api/files': [200, 400, 401, 403, 503],
  'GET /api/files/{cid}/entries': [200, 400, 401, 403, 404, 406, 410, 429, 451, 503],
  'GET /api/files/{cid}': [200, 400, 401, 403, 404, 503],
  'PATCH /api/files/{cid}': [200, 400, 401, 403, 404, 409, 410, 413, 503],
  'DELETE /api/files/{cid}': [200, 400, 401, 403, 404, 410, 503],
  'POST /api/files/{cid}/claim': [200, 400, 401, 403, 404, 413, 429, 503],
  'POST /api/files/{cid}/share': [200, 400, 401, 403, 404, 410, 503],
  'GET /api/usage': [200, 400, 401, 403, 503],
  'GET /api/deals': [200, 400, 401, 403, 503],
  'GET /api/deals/{dealId}': [200, 401, 403, 404, 503],
  'GET /api/deals/{dealId}/proofs': [200, 401, 403, 404, 503],
  'POST /api/deals/{dealId}/extend': [200, 400, 401, 403, 404, 409, 422, 503],
  'PUT /api/deals/{dealId}/redundancy': [200, 400, 401, 403, 404, 409, 503],
  'POST /p/{cid}/challenge': [200, 400, 401, 403, 404, 409, 410, 429, 502, 503],
  'POST /api/auth/signup': [200, 400, 401, 403, 429, 503],
  'GET /api/tokens': [200, 401, 403, 503],
  'GET /api/tokens/list': [200, 401, 403, 503],
  'POST /api/tokens/revoke': [200, 400, 401, 404, 503],
  'GET /api/session': [200, 401, 403, 503],
  'POST /api/session': [200, 400, 401, 403, 429, 503],
  'DELETE /api/session': [200, 401, 403, 503],
  'GET /api/sessions': [200, 401, 403, 503],
  'DELETE /api/sessions/{sessionId}': [200, 400, 401, 403, 404, 503],
  'GET /api/admin/overview': [200, 401, 403, 503],
  'GET /api/admin/principals': [200, 400, 401, 403, 503],
  'GET /api/admin/principals/{principal}': [200, 400, 401, 403, 503],
  'PUT /api/admin/principals/{principal}/limits': [200, 400, 401, 403, 503],
  'GET /api/admin/uploads': [200, 401, 403, 503],
  'GET /api/admin/files': [200, 400, 401, 403, 503],
  'GET /api/admin/jobs': [200, 401, 403, 503],
  'GET /api/admin/audit': [200, 400, 401, 403, 503],
  'GET /api/admin/audit.jsonl': [200, 401, 403, 503],
  'POST /api/admin/blocks': [200, 400, 401, 403, 503],
  'GET /api/admin/blocks': [200, 400, 401, 403, 503],
  'DELETE /api/admin/blocks/{cid}': [200, 400, 401, 403, 404, 503],
  'POST /api/admin/blocked-callers': [200, 400, 401, 403, 503],
  'POST /api/admin/personal-data/erase': [200, 400, 401, 403, 503],
  'POST /api/admin/personal-data/export': [200, 400, 401, 403, 503],
  'GET /api/admin/blocked-callers': [200, 400, 401, 403, 503],
  'DELETE /api/admin/blocked-callers/{id}': [200, 400, 401, 403, 404, 503],
  'GET /healthz': [200],
  'GET /readyz': [200, 503],
  'GET /api/info': [200],
}

describe('the documents of a running service', () => {
  let service: RunningService
  let document: Document
  beforeAll(async () => {
    service = await runService()
    document = (await (await service.fetch('/openapi.json')).json()) as Document
  })
  afterAll(() => service.remove())

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    )

  it('are OpenAPI 3.1 with every route and method, and no other', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/)
    expect(
      operations()
        .map(([name]) => name)
        .sort(),
    ).toEqual(Object.keys(ROUTES).sort())
  })

  it('describe every answer that the contract names', () => {
    const lacking = operations().flatMap(([name, operation]) =>
      (ROUTES[name] ?? []).filter((status) => !(status in operation.responses)).map((status) => `${name}: ${status}`),
    )
    expect(lacking).toEqual([])
    for (const [name, operation] of operations()) {
      expect(operation.summary, name).toMatch(/\w/)
      for (const [status, response] of Object.entries(operation.responses)) {
        const { $ref } = response as { $ref?: string }
        const described = $ref === undefined ? response : (resolve(document, $ref) as typeof response)
        expect(described.description, `${name} ${status}`).toMatch(/\w/)
      }
    }
  })

  it('name every parameter that a path has', () => {
    for (const [name, operation] of operations()) {
      const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
      const named = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      expect(named.map((parameter) => parameter.name)).toEqual(inPath)
    }
  })

  it('hold schemas that read as JSON Schema, and references that lead somewhere', () => {
    const schemas: z.core.JSONSchema.JSONSchema[] = []
    walk(document, (key, value) => {
      if (key === '$ref') expect(resolve(document, String(value)), String(value)).toBeDefined()
      if (key === 'schema' && typeof value === 'object' && value !== null)
        schemas.push(value as z.core.JSONSchema.JSONSchema)
    })
    expect(schemas.length).toBeGreaterThan(20)
    const definitions = document.components.schemas ?? {}
    for (const schema of [...schemas, ...Object.values(definitions)]) {
      const text = JSON.stringify({ ...schema, $defs: definitions })
      const resolvable = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/'))
      expect(() => z.fromJSONSchema(resolvable)).not.toThrow()
    }
  })

  it('explain exactly the codes that there are', async () => {
    const page = await (await service.fetch('/docs/errors')).text()
    const listed = [...page.matchAll(/<tr id="(\w+)">/g)].map(([, code]) => code)
    expect(listed.sort()).toEqual(Object.keys(ERROR_SENTENCES).sort())
    for (const sentence of Object.values(ERROR_SENTENCES)) expect(page).toContain(sentence)
  })

  it('can be read by people at /docs', async () => {
    const page = await service.fetch('/docs')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
  })

  it('is also at /docs/', async () => {
    expect((await service.fetch('/docs/')).status).toBe(200)
  })

  it.each(['/docs/nothing', '/docs/errors/nothing'])(
    'error: answers %s with the body of every other error',
    async (path) => {
      const response = await service.fetch(path)
      expect([response.status, await response.json()]).toEqual([
        404,
        expect.objectContaining({ error: 'not_found', status: 404, requestId: expect.any(String) }),
      ])
    },
  )

  it('runs the scripts that it was sent with and no others', async () => {
    const page = await service.fetch('/docs')
    const policy = page.headers.get('content-security-policy') ?? ''
    const scripts = [...(await page.text()).matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(
      ([, script = '']) => script,
    )
    const inline = scripts.filter((script) => script.trim() !== '')
    expect(inline.length).toBeGreaterThan(0)
    const digests = inline.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`)
    expect(/script-src ([^;]*)/.exec(policy)?.[1]?.split(' ').sort()).toEqual([...digests, "'self'"].sort())
    const script = await service.fetch('/docs/js/scalar.js')
    expect([script.status, script.headers.get('content-security-policy')]).toEqual([
      200,
      expect.stringContaining("script-src 'self';"),
    ])
  })
})

it('documents what a service has by its configuration alone', async () => {
  const service = await runService({
    env: {
      LADE_TOKEN_ALG: 'RS256',
      LADE_SIGNUP: 'email',
      LADE_SMTP_URL: 'smtp://127.0.0.1:1',
      LADE_MAIL_FROM: 'a@b.example',
    },
  })
  const { paths } = (await (await service.fetch('/openapi.json')).json()) as Document
  await service.remove()
  const codesOf = (operation: Operation | undefined) => Object.keys(operation?.responses ?? {}).map(Number)
  expect(codesOf(paths['/api/auth/start']?.post)).toEqual(expect.arrayContaining([200, 400, 401, 429, 503]))
  expect(codesOf(paths['/api/auth/verify']?.post)).toEqual(expect.arrayContaining([200, 400, 401, 403, 503]))
  expect(codesOf(paths['/.well-known/jwks.json']?.get)).toEqual(expect.arrayContaining([200, 401, 503]))
})

function walk(value: unknown, visit: (key: string, value: unknown) => void): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    visit(key, member)
    walk(member, visit)
  }
}

function resolve(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], root)
}
