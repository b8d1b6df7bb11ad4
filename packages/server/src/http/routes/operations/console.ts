import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { LadeError } from '@lade/core/errors'
import type { FastifyInstance } from 'fastify'
import type { Service } from '../../service.ts'
import { canBeNamed, consolePolicy } from './console-policy.ts'
import { FixedDocument, type FixedDocumentOptions } from './fixed-document.ts'

const PAGE = 'index.html'
/** The names of scripts and styles have a digest of what is in them. */
const NAMED_BY_DIGEST = { maxAgeSeconds: 31_536_000 }
const KINDS: Readonly<Record<string, FixedDocumentOptions>> = {
  css: { contentType: 'text/css; charset=utf-8', ...NAMED_BY_DIGEST },
  js: { contentType: 'text/javascript; charset=utf-8', ...NAMED_BY_DIGEST },
  txt: { contentType: 'text/plain; charset=utf-8' },
  html: { contentType: 'text/html; charset=utf-8' },
}

/** The console: its page at `/`, what that loads below `/console/`. */
export function consoleRoutes(app: FastifyInstance, service: Service): void {
  let reading: Promise<ReadonlyMap<string, FixedDocument>> | undefined
  const files = () => {
    reading ??= readConsole()
    return reading
  }

  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    const { publicUrl, config } = service
    const hosts = [request.headers.host, new URL(publicUrl()).host].filter((host) => host !== undefined)
    const named = [...new Set(hosts)].filter(canBeNamed)
    const page = (await files()).get(PAGE)
    // Opened by an address that its policy cannot name, no script of it would run.
    if (page === undefined || !named.includes(hosts[0] ?? '')) return reply.redirect('/docs', 302)
    const contentOrigin = config.contentUrl === undefined ? undefined : new URL(config.contentUrl).origin
    reply.headers({
      'content-security-policy': consolePolicy({ hosts: named, contentOrigin }),
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
    })
    return page.send(request, reply)
  })

  app.get<{ Params: { name: string } }>('/console/:name', { schema: { hide: true } }, async (request, reply) => {
    const { name } = request.params
    const file = name === PAGE ? undefined : (await files()).get(name)
    if (file === undefined)
      throw new LadeError('not_found', { reason: 'There is no such file of the console. It starts at /.' })
    return file.send(request, reply)
  })
}

/** The files that `npm run build:console` wrote, by name. */
async function readConsole(): Promise<ReadonlyMap<string, FixedDocument>> {
  const folder = dirname(createRequire(import.meta.url).resolve(`#console/${PAGE}`))
  const names = await readdir(folder)
  const documents = names.flatMap((name) => {
    const kind = KINDS[name.slice(name.lastIndexOf('.') + 1)]
    return kind === undefined ? [] : [readDocument(join(folder, name), name, kind)]
  })
  return new Map(await Promise.all(documents))
}

async function readDocument(file: string, name: string, kind: FixedDocumentOptions) {
  return [name, new FixedDocument(await readFile(file, 'utf8'), kind)] as const
}
