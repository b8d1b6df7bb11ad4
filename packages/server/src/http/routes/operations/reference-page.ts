import { hash } from 'node:crypto'
import fastify, { type FastifyInstance } from 'fastify'
import { FixedDocument } from './fixed-document.ts'

const ROUTE = '/docs'
const SCRIPT_SECONDS = 86_400

/**
 * The page to read and try the API, and what it loads, by path. It is loaded with the first request for it: it weighs as much as half the
 * service.
 *
 * @returns undefined for a path that belongs to none of it.
 */
export function referenceDocuments(): (path: string) => Promise<FixedDocument | undefined> {
  let opened: Promise<FastifyInstance> | undefined
  const documents = new Map<string, Promise<FixedDocument>>()
  return async (path) => {
    opened ??= openReference()
    const reference = await opened
    if (!reference.hasRoute({ method: 'GET', url: path })) return undefined
    const document = documents.get(path) ?? render(reference, path)
    documents.set(path, document)
    return document
  }
}

async function openReference(): Promise<FastifyInstance> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const reference = fastify()
  await reference.register(scalar, {
    routePrefix: ROUTE,
    // Only what works here, without asking anybody else.
    configuration: {
      pageTitle: 'Lade API',
      url: '/openapi.json',
      agent: { disabled: true },
      mcp: { disabled: true },
      // The samples of the document run as they are; those that the page would make of the schemas do not.
      hiddenClients: true,
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

async function render(reference: FastifyInstance, path: string): Promise<FixedDocument> {
  const { headers, payload } = await reference.inject({ method: 'GET', url: path })
  const contentType = String(headers['content-type'])
  const isPage = contentType.startsWith('text/html')
  return new FixedDocument(payload, {
    contentType,
    contentSecurityPolicy: policyOf(isPage ? payload : ''),
    ...(!isPage && { maxAgeSeconds: SCRIPT_SECONDS }),
  })
}

/**
 * The page is one script with its styles inside, and a few lines that start it; it speaks to this service and to nobody else. Scripts
 * within the page run only if they are those that it was sent with.
 */
function policyOf(page: string): string {
  const digests = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => ` 'sha256-${hash('sha256', script, 'base64')}'`,
  )
  return (
    `default-src 'none'; script-src 'self'${digests.join('')}; style-src 'unsafe-inline'; img-src 'self' data:; ` +
    "font-src data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
  )
}
