import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningService, runService } from '../../testing/running/running-service.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly properties?: Record<string, Schema>
}
interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema & Record<string, unknown>
}
type Content = Record<string, { readonly schema: Schema }>
interface Answer {
  readonly $ref?: string
  readonly headers?: Record<string, { readonly $ref: string }>
  readonly content?: Content
}
interface Operation {
  readonly operationId: string
  readonly security: readonly object[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Record<string, Answer>
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: {
    readonly schemas: Record<string, Schema>
    readonly responses: Record<string, Answer & { readonly description: string }>
    readonly securitySchemes: Record<string, object>
  }
}

const WITH_ALL = {
  LADE_TOKEN_ALG: 'RS256',
  LADE_SIGNUP: 'email',
  LADE_SMTP_URL: 'smtp://127.0.0.1:1',
  LADE_MAIL_FROM: 'a@b.example',
  LADE_METRICS_TOKEN: 'a-token-for-metrics',
}

describe('the OpenAPI document', () => {
  let service: RunningService
  let document: Document
  beforeAll(async () => {
    service = await runService({ env: WITH_ALL })
    document = (await (await service.fetch('/openapi.json')).json()) as Document
  })
  afterAll(() => service.remove())

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, method, operation })),
    )
  const operation = (method: string, path: string): Operation => {
    const found = document.paths[path]?.[method]
    if (found === undefined) throw new Error(`no ${method} ${path}`)
    return found
  }
  const parameter = (method: string, path: string, name: string) =>
    operation(method, path).parameters?.find((one) => one.name === name)

  it('names each operation once, as generators name functions', () => {
    const ids = operations().map(({ operation: { operationId } }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[a-z]+(?:[A-Z][a-z0-9]*)*$/)
    expect(ids).toEqual(expect.arrayContaining(['signUp', 'uploadFile', 'listFiles', 'getContent', 'headContent']))
  })

  it('has every shape of JSON as a component', () => {
    for (const {
      name,
      operation: { requestBody, responses },
    } of operations()) {
      const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)]
      const inline = contents
        .flatMap((content) => Object.entries(content ?? {}))
        .filter(([type, { schema }]) => /^application\/(?:json|.*\+json)$/.test(type) && schema.$ref === undefined)
      expect(inline, name).toEqual([])
    }
    expect(document.components.schemas.FileList?.properties?.files).toMatchObject({
      items: { $ref: '#/components/schemas/FileEntry' },
    })
  })

  it('has bytes where bytes are sent, and credentials where they count', () => {
    const bytes = { type: 'string', format: 'binary' }
    const upload = operation('post', '/api/upload')
    expect(upload.requestBody?.content).toMatchObject({
      'application/octet-stream': { schema: bytes },
      '*/*': { schema: bytes },
    })
    for (const path of ['/p/{cid}', '/piece/{pieceCid}']) {
      const { responses, security } = operation('get', path)
      expect(responses['200']?.content, path).toEqual({
        'application/octet-stream': { schema: bytes },
        '*/*': { schema: bytes },
      })
      expect(security, path).toEqual([{}, { bearer: [] }])
      expect(operation('head', path).responses['200'], path).not.toHaveProperty('content')
    }
    expect(operation('get', '/ipfs/{cid}').responses['200']?.content).toEqual({
      'application/x-tar': { schema: bytes },
      'application/json': { schema: { $ref: '#/components/schemas/FolderListing' } },
      '*/*': { schema: bytes },
      'application/vnd.ipld.raw': { schema: bytes },
      'application/vnd.ipld.car': { schema: bytes },
    })
    expect(operation('get', '/api/files').security).toEqual([{ bearer: [] }, { queryToken: [] }])
    expect(operation('get', '/metrics').security).toEqual([{ metrics: [] }])
    for (const {
      name,
      operation: { security },
    } of operations()) {
      const used = security.flatMap((requirement) => Object.keys(requirement))
      expect(
        used.filter((scheme) => !(scheme in document.components.securitySchemes)),
        name,
      ).toEqual([])
    }
  })

  it('has no parameters that OpenAPI says in other ways', () => {
    const names = operations().flatMap(({ operation: { parameters = [] } }) => parameters.map(({ name }) => name))
    for (const name of ['content-type', 'content-length', 'authorization', 'accept', 'token'])
      expect(names).not.toContain(name)
  })

  it('has whole numbers, choices and lists as what they are, also in queries and headers', () => {
    expect(parameter('get', '/api/files', 'limit')?.schema).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 100,
    })
    expect(parameter('post', '/api/upload', 'x-term-days')?.schema).toMatchObject({ type: 'integer', minimum: 1 })
    expect(parameter('post', '/api/upload', 'x-term-days')?.schema.maximum).toBe(service.config.termMaxDays)
    expect(parameter('get', '/api/deals', 'status')?.schema.enum).toContain('expiring')
    expect(parameter('post', '/api/upload', 'profile')?.schema.enum).toContain('unixfs-v1-2025')
    expect(parameter('get', '/api/piece-cids', 'cid')).toMatchObject({
      required: true,
      schema: { type: 'array', minItems: 1, maxItems: 100 },
    })
    expect(document.components.schemas.UploadResult?.properties?.size).toMatchObject({
      type: 'integer',
      format: 'int64',
    })
  })

  it('has the cids of every spelling, capitals among them', () => {
    for (const [method, path, name] of [
      ['post', '/api/upload', 'cid'],
      ['get', '/p/{cid}', 'cid'],
      ['get', '/api/files/{cid}', 'cid'],
    ] as const) {
      expect(new RegExp(parameter(method, path, name)?.schema.pattern ?? '-'), path).toSatisfy((pattern: RegExp) =>
        pattern.test('QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG'),
      )
    }
  })

  it('has every error as a problem in both of its media types, with the headers that errors have', () => {
    const answers = document.components.responses
    for (const {
      name,
      operation: { responses },
    } of operations()) {
      expect(Object.keys(responses), name).toEqual(
        expect.arrayContaining(['400', '408', '417', '421', '429', '431', '500', '503']),
      )
      const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400)
      for (const [status, { $ref, content }] of errors) {
        const answer = $ref === undefined ? { content } : answers[$ref.slice('#/components/responses/'.length)]
        expect(answer?.content?.['application/json'], `${name} ${status}`).toBeDefined()
      }
    }
    for (const [name, answer] of Object.entries(answers)) {
      // What programs that read the document accept as a name.
      expect(name).toMatch(/^[a-zA-Z0-9._-]+$/)
      expect(Object.keys(answer.content ?? {})).toEqual(['application/json', 'application/problem+json'])
      expect(answer.headers).toHaveProperty('X-Request-Id')
    }
    expect(answers.Unauthorized?.headers).toHaveProperty('WWW-Authenticate')
    expect(answers.ServiceUnavailable?.headers).toHaveProperty('Retry-After')
    expect(answers.NotFound?.description).toContain('not_found')
  })

  it('leaves out ways to authenticate that the settings close', async () => {
    const strict = await runService({ env: { LADE_QUERY_TOKEN: 'refuse' } })
    const { components, paths } = (await (await strict.fetch('/openapi.json')).json()) as Document
    await strict.remove()
    expect(Object.keys(components.securitySchemes)).toEqual(['bearer', 'session'])
    expect(paths['/api/files']?.get?.security).toEqual([{ bearer: [] }])
  })

  it('has no schema that nothing refers to', () => {
    const text = JSON.stringify(document)
    const unused = Object.keys(document.components.schemas).filter((name) => !text.includes(`/schemas/${name}"`))
    expect(unused).toEqual([])
  })
})
