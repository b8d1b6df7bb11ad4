import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import swagger from '@fastify/swagger'
import { ERROR_SENTENCES, type ErrorCode, LadeError } from '@lade/core/errors'
import fastify, { type FastifyInstance } from 'fastify'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'
import { STATUS } from '../../problem.ts'
import type { Service } from '../../service.ts'

const SLICE_BYTES = 64 * 1024

/** `/openapi.json`, generated from the schemas; `/docs` to browse and try the API; `/docs/errors` with every error code. */
export async function documentRoutes(app: FastifyInstance, service: Service): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Lade',
        version: service.version,
        description:
          'An upload and staging service for content-addressed storage networks. Upload files under their content id and ' +
          'download them at /p/{cid}.',
        license: { name: 'Apache-2.0 OR MIT', identifier: 'Apache-2.0 OR MIT' },
      },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'pk_live_ followed by a JWT' },
          wallet: {
            type: 'apiKey',
            in: 'header',
            name: 'Signature-Input',
            description: 'Together with Signature: the request is signed by a wallet (ERC-8128, RFC 9421)',
          },
        },
      },
      tags: [
        { name: 'uploads', description: 'Upload files' },
        { name: 'retrieval', description: 'Download files' },
        { name: 'files', description: 'Your files, their deals and your usage' },
        { name: 'tokens', description: 'Create and revoke bearer tokens' },
        { name: 'wallets', description: 'Sign in with an Ethereum account' },
        { name: 'operations', description: 'Health, readiness, limits' },
      ],
    },
    transform: jsonSchemaTransform,
  })
  let description: Buffer | undefined
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    description ??= Buffer.from(JSON.stringify(app.swagger()))
    return reply.type('application/json; charset=utf-8').send(description)
  })
  const errors = Buffer.from(errorsPage())
  app.get('/docs/errors', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
      .send(errors),
  )
  const openReference = referenceOpener()
  for (const url of ['/docs', '/docs/*']) {
    app.get(url, { schema: { hide: true } }, async (request, reply) => {
      const reference = await openReference()
      const path = request.url.split('?', 1)[0] ?? ''
      if (!reference.hasRoute({ method: 'GET', url: path }))
        throw new LadeError('not_found', {
          reason: `There is no page ${shownPath(path)}. The documentation starts at /docs.`,
        })
      reply.hijack()
      reference.routing(request.raw, reply.raw)
    })
  }
}

/**
 * The page is one script with its styles inside, and a few lines that start it; it speaks to this service and to nobody else. Scripts
 * within the page run only if they are those that it was sent with.
 */
function referencePolicy(page: string): string {
  const digests = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => ` 'sha256-${hash('sha256', script, 'base64')}'`,
  )
  return (
    `default-src 'none'; script-src 'self'${digests.join('')}; style-src 'unsafe-inline'; img-src 'self' data:; ` +
    "font-src data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
  )
}

/**
 * A document bit by bit, as its reader takes it. The kernel takes megabytes at once, which is a millisecond: with hundreds of readers, others
 * have their turn in between.
 */
async function* slicesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES)
    await setImmediate()
  }
}

/** Loads the page to read and try the API with the first request for it: it weighs as much as half the service. */
function referenceOpener(): () => Promise<FastifyInstance> {
  const open = async (): Promise<FastifyInstance> => {
    const { default: scalar } = await import('@scalar/fastify-api-reference')
    const reference = fastify()
    /** The script is 3 MB, of which every slow reader would have a copy. */
    const sent = new Map<string, { readonly text: string; readonly bytes: Buffer; readonly policy: string }>()
    const documentOf = (url: string, text: string, isPage: boolean) => {
      const kept = sent.get(url)
      if (kept?.text === text) return kept
      const made = { text, bytes: Buffer.from(text), policy: referencePolicy(isPage ? text : '') }
      sent.set(url, made)
      return made
    }
    reference.addHook('onSend', async (request, reply, payload) => {
      const { url = '' } = request.routeOptions
      const isPage = String(reply.getHeader('content-type')).startsWith('text/html')
      const { policy, bytes } = documentOf(url, typeof payload === 'string' ? payload : '', isPage)
      reply.headers({ 'content-security-policy': policy, 'x-content-type-options': 'nosniff' })
      if (typeof payload !== 'string') return payload
      if (request.method === 'HEAD' || bytes.length <= SLICE_BYTES) return bytes
      reply.header('content-length', bytes.length)
      return Readable.from(slicesOf(bytes), { objectMode: false })
    })
    await reference.register(scalar, {
      routePrefix: '/docs',
      // Only what works here, without asking anybody else.
      configuration: {
        pageTitle: 'Lade API',
        url: '/openapi.json',
        agent: { disabled: true },
        mcp: { disabled: true },
        hideClientButton: true,
        proxyUrl: '',
        showDeveloperTools: 'never',
        telemetry: false,
        withDefaultFonts: false,
      },
    })
    await reference.ready()
    return reference
  }
  let opened: Promise<FastifyInstance> | undefined
  return () => {
    opened ??= open()
    return opened
  }
}

function errorsPage(): string {
  const codes = Object.keys(ERROR_SENTENCES) as ErrorCode[]
  const rows = codes
    .map(
      (code) =>
        `<tr id="${code}"><td>${STATUS[code]}</td><td><code>${code}</code></td><td>${ERROR_SENTENCES[code]}</td></tr>`,
    )
    .join('\n')
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Lade: error codes</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .4rem .8rem; border-bottom: 1px solid #ddd; vertical-align: top }
tr:target { background: #fff3c4 }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #111 } td, th { border-color: #333 } tr:target { background: #443c10 } }
</style>
<h1>Error codes</h1>
<p>Every error response has a JSON body: <code>error</code> is the code, <code>detail</code> describes the problem, and <code>requestId</code>
identifies the request in the server's log. New codes may be added; existing ones are never renamed. <a href="/docs">Back to the API</a></p>
<table><thead><tr><th>Status</th><th>error</th><th>Meaning</th></tr></thead><tbody>
${rows}
</tbody></table></html>
`
}

function shownPath(path: string): string {
  return path.replace(/[^\x21-\x7e]/g, '?').slice(0, 60)
}
