import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningService, runService } from '../../../testing/running/running-service.ts'

const DOCS = fileURLToPath(new URL('../../../../../../docs', import.meta.url))
const PAGES = execFileSync('find', ['.', '-name', '*.md'], { cwd: DOCS, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '')
  .map((path) => path.slice('./'.length, -'.md'.length))

describe('the guides', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await runService()
  })
  afterAll(() => service.remove())

  const linksOf = (html: string) => [...html.matchAll(/<a href="(\/[^"]*)"/g)].map(([, link = '']) => link)

  it('are led to by the page of the API', async () => {
    const { info, externalDocs } = (await (await service.fetch('/openapi.json')).json()) as {
      info: { description: string }
      externalDocs: { url: string }
    }
    const linked = [...info.description.matchAll(/\]\((\/docs\/[^)]*)\)/g)].map(([, link = '']) => link)
    expect(linked.length).toBeGreaterThan(5)
    for (const link of [...linked, new URL(externalDocs.url).pathname])
      expect((await service.fetch(link)).status, link).toBe(200)
  })

  it.each(PAGES)('show %s, whose links lead somewhere', async (page) => {
    const response = await service.fetch(`/docs/guides/${page}`)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const html = await response.text()
    expect(html).toContain('<h1')
    for (const link of new Set(linksOf(html))) {
      const [address = '', anchor] = link.split('#')
      const target = await service.fetch(address)
      expect(target.status, link).toBe(200)
      if (anchor !== undefined) expect(await target.text(), link).toContain(`id="${anchor}"`)
    }
  })

  it.each(['nothing', 'use/nothing', '../README', '..%2f..%2fpackage', 'use/command-line.md', 'images/terminal'])(
    'error: %s is not there',
    async (page) => {
      const { hostname, port } = new URL(service.url)
      const { get } = await import('node:http')
      const status = await new Promise((resolve, reject) => {
        get({ hostname, port, path: `/docs/guides/${page}` }, (response) => {
          response.resume()
          resolve(response.statusCode)
        }).on('error', reject)
      })
      expect(status).toBe(404)
    },
  )
})
