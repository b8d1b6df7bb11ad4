import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningService, runService } from '../../../testing/running/running-service.ts'

describe('the console of a running service', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await runService({ env: { LADE_TRUSTED_HOSTS: 'lade.example' } })
  })
  afterAll(() => service.remove())

  const pathsOf = (page: string) =>
    [...page.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path = '']) => path)

  /** fetch sets the host by itself. */
  function openBy(host: string): Promise<{ status: number | undefined; policy: string; location: string | undefined }> {
    return new Promise((resolve, reject) => {
      request(service.url, { headers: { host } }, (response) => {
        response.resume()
        const { 'content-security-policy': policy, location } = response.headers
        resolve({ status: response.statusCode, policy: String(policy), location })
      })
        .once('error', reject)
        .end()
    })
  }

  it('is a page at / that loads scripts and styles of its folder, which caches may keep', async () => {
    const page = await service.fetch('/')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const text = await page.text()
    expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/)
    const paths = pathsOf(text)
    expect(new Set(paths.map((path) => path.slice(path.lastIndexOf('.'))))).toEqual(new Set(['.js', '.css']))
    for (const path of paths) {
      const file = await service.fetch(path)
      expect(file.status).toBe(200)
      expect(file.headers.get('cache-control')).toBe('public, max-age=31536000')
      expect(file.headers.get('content-type')).toBe(
        path.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8',
      )
    }
  })

  it('names the host that it was opened by, and its own', async () => {
    const { host } = new URL(service.url)
    const { policy } = await openBy('lade.example')
    expect(policy).toContain(`worker-src lade.example/console/ ${host}/console/;`)
    expect((await openBy(host)).policy).toContain(`worker-src ${host}/console/;`)
  })

  it('leads to the API by an address that no policy can name', async () => {
    const { port } = new URL(service.url)
    expect(await openBy(`[::1]:${port}`)).toMatchObject({ status: 302, location: '/docs' })
  })

  it('has the licences of what is in it, and answers 404 for files that it does not have', async () => {
    expect(await (await service.fetch('/console/licences.txt')).text()).toContain('preact')
    for (const path of ['/console/', '/console/index.html', '/console/none.js', '/console/%2e%2e%2fpackage.json']) {
      expect((await service.fetch(path)).status).toBe(404)
    }
  })
})
