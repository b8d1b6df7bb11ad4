import { randomBytes } from 'node:crypto'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, expect, it, vi } from 'vitest'
import { bearer, type RunningService, runService } from '../testing/running/running-service.ts'

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

let service: RunningService
afterEach(() => service.remove())

/** The log line of the latest request to a path. */
async function lineOf(path: string): Promise<Record<string, unknown>> {
  return vi.waitFor(() => {
    const line = service.logged().findLast((one) => one.msg === 'request' && one.path === path)
    if (line === undefined) throw new Error(`no line for ${path}`)
    return line
  })
}

it('says of each request which route it was, who asked from where, what was sent and how it ended', async () => {
  service = await runService()
  const bytes = randomBytes(50_000)
  await (await service.upload(bytes, { headers: { traceparent: TRACEPARENT } })).json()
  const upload = await lineOf('/api/upload')
  expect(upload).toMatchObject({
    method: 'POST',
    route: '/api/upload',
    status: 200,
    principal: 'ip:127.0.0.1',
    address: '127.0.0.1',
    complete: true,
    traceparent: TRACEPARENT,
    cid: sha256Hex(bytes),
    tier: 'sponsored',
  })
  expect(upload.bytesIn).toBeGreaterThan(50_000)
  expect(upload.bytesOut).toBeGreaterThan(100)
  expect(upload.durationMs).toBeGreaterThan(0)
  expect(upload).not.toHaveProperty('code')

  const { token, userId } = await service.signUp()
  await (await service.fetch('/api/usage', { headers: bearer(token) })).json()
  expect(await lineOf('/api/usage')).toMatchObject({ route: '/api/usage', principal: `user:${userId}`, status: 200 })
  expect(await lineOf('/api/usage')).not.toHaveProperty('traceparent')
})

it('says of a refusal which error it was', async () => {
  service = await runService()
  const { token, userId } = await service.signUp()
  await service.fetch('/api/files/nothing%20here', { headers: bearer(token) })
  expect(await lineOf('/api/files/nothing%20here')).toMatchObject({
    route: '/api/files/{cid}',
    code: 'invalid_cid',
    status: 400,
    principal: `user:${userId}`,
  })
  await service.fetch('/nowhere', { headers: { traceparent: `${TRACEPARENT}-` } })
  const line = await lineOf('/nowhere')
  expect(line).toMatchObject({ code: 'not_found', principal: 'ip:127.0.0.1' })
  expect(line).not.toHaveProperty('route')
  expect(line).not.toHaveProperty('traceparent')
})

it('has every successful read at debug, also one from the cache, and none at info', async () => {
  service = await runService()
  const bytes = randomBytes(20_000)
  const path = `/p/${sha256Hex(bytes)}`
  await service.upload(bytes)
  const ids: (string | null)[] = []
  for (let read = 0; read < 4; read += 1) {
    const response = await service.fetch(path)
    await response.arrayBuffer()
    ids.push(response.headers.get('x-request-id'))
  }
  await vi.waitFor(() => {
    const lines = service.logged().filter((line) => line.path === path)
    expect(lines.map(({ requestId }) => requestId)).toEqual(ids)
    for (const line of lines) {
      expect(line).toMatchObject({ level: 20, route: '/p/{cid}', status: 200, address: '127.0.0.1' })
      expect(line.bytesOut).toBeGreaterThan(20_000)
    }
  })
  await service.remove()
  service = await runService({ env: { LADE_LOG_LEVEL: 'info' } })
  await service.upload(bytes)
  await (await service.fetch(path)).arrayBuffer()
  await lineOf('/api/upload')
  expect(service.logged().filter((line) => line.path === path)).toEqual([])
})

it('has the network of an address, or nothing of it, where the operator wants that', async () => {
  const env = { LADE_LOG_ADDRESSES: 'network', LADE_TRUSTED_PROXIES: '127.0.0.1' }
  service = await runService({ env })
  const headers = { 'x-forwarded-for': '198.51.100.77' }
  await service.upload(randomBytes(100), { headers })
  expect(await lineOf('/api/upload')).toMatchObject({ address: '198.51.100.0/24', principal: 'ip:198.51.100.0/24' })
  // Summed up by address, and shown by its network.
  const refused = Array.from({ length: 400 }, async () => (await service.fetch('/nowhere', { headers })).text())
  await Promise.all(refused)
  await service.close()
  const leftOut = service.logged().find((line) => line.leftOut !== undefined)
  expect(leftOut).toMatchObject({ principal: 'ip:198.51.100.0/24' })
  expect(service.logLines.join('')).not.toContain('198.51.100.77')
  await service.remove()
  service = await runService({ env: { ...env, LADE_LOG_ADDRESSES: 'none' } })
  await service.upload(randomBytes(100), { headers })
  const line = await lineOf('/api/upload')
  expect(line).toMatchObject({ principal: 'ip' })
  expect(line).not.toHaveProperty('address')
})
