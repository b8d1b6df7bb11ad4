import { ERROR_SENTENCES, type ErrorCode, LadeError } from '@lade/core/errors'
import type { FastifyInstance } from 'fastify'
import { apiDocument } from '../../openapi/api-document.ts'
import { GUIDES_PATH } from '../../openapi/introduction.ts'
import { STATUS } from '../../problem.ts'
import { pathOf } from '../../query.ts'
import type { Service } from '../../service.ts'
import { FixedDocument } from './fixed-document.ts'
import { guideDocuments } from './guides.ts'
import { htmlPage, PAGE_POLICY } from './html-page.ts'
import { referenceDocuments } from './reference-page.ts'

/**
 * `/openapi.json`, generated from the schemas; `/docs` to browse and try the API; `/docs/errors` with every error code; `/docs/guides`.
 */
export function documentRoutes(app: FastifyInstance, service: Service): void {
  let description: FixedDocument | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (request, reply) => {
    description ??= new FixedDocument(JSON.stringify(apiDocument(app, service)), {
      contentType: 'application/json; charset=utf-8',
    })
    return description.send(request, reply)
  })

  const errors = new FixedDocument(htmlPage('error codes', errorTable()), {
    contentType: 'text/html; charset=utf-8',
    contentSecurityPolicy: PAGE_POLICY,
  })
  app.get('/docs/errors', { schema: { hide: true } }, async (request, reply) => errors.send(request, reply))

  const guideOf = guideDocuments()
  for (const url of [GUIDES_PATH, `${GUIDES_PATH}/*`]) {
    app.get(url, { schema: { hide: true } }, async (request, reply) => {
      const name = pathOf(request.url)
        .slice(GUIDES_PATH.length)
        .replace(/^\/|\/$/g, '')
      const guide = await guideOf(name)
      if (guide === undefined) throw unknownPage(request.url)
      return guide.send(request, reply)
    })
  }

  const referenceOf = referenceDocuments()
  app.get('/docs', { schema: { hide: true } }, async (_request, reply) => reply.redirect('/docs/', 301))
  app.get('/docs/*', { schema: { hide: true } }, async (request, reply) => {
    const document = await referenceOf(pathOf(request.url))
    if (document === undefined) throw unknownPage(request.url)
    return document.send(request, reply)
  })
}

function errorTable(): string {
  const codes = Object.keys(ERROR_SENTENCES) as ErrorCode[]
  const rows = codes
    .map(
      (code) =>
        `<tr id="${code}"><td>${STATUS[code]}</td><td><code>${code}</code></td><td>${ERROR_SENTENCES[code]}</td></tr>`,
    )
    .join('\n')
  return `<h1>Error codes</h1>
<p>Every error response has a JSON body: <code>error</code> is the code, <code>detail</code> describes the problem, and <code>requestId</code>
identifies the request in the server's log. New codes may be added; existing ones are never renamed. <a href="/docs">Back to the API</a></p>
<table><thead><tr><th>Status</th><th>error</th><th>Meaning</th></tr></thead><tbody>
${rows}
</tbody></table>`
}

function unknownPage(url: string): LadeError<'not_found'> {
  const shown = pathOf(url)
    .replace(/[^\x21-\x7e]/g, '?')
    .slice(0, 60)
  return new LadeError('not_found', { reason: `There is no page ${shown}. The documentation starts at /docs.` })
}
