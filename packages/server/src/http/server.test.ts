import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openFakeProver } from '../proving/fake-prover.ts'
import { openFaultyBlobStore } from '../testing/doubles/faulty-blob-store.ts'
import { rawRequest } from '../testing/running/raw-request.ts'
import { bearer, type RunningService, runService } from '../testing/running/running-service.ts'

const BYTES = Buffer.from('logged')
const SHA256 = sha256Hex(BYTES)

describe('the log of a running service', () => {
  const prover = openFakeProver()
  const blobs = openFaultyBlobStore()
  let service: RunningService
  beforeEach(async () => {
    service = await runService({
      env: { LADE_LOG_LEVEL: 'trace', LADE_INLINE_KB: '0', LADE_AGGREGATE_BELOW_MB: '0' },
      substitutes: { provers: [prover], blobs },
    })
  })
  afterEach(() => service.remove())

  it('is one JSON document a line, and holds no token, share link, query, key or header', async () => {
    const { token } = await service.signUp('grace@example.org')
    const other = await service.signUp('grace@example.org')
    const secrets = [token, other.token, ...token.split('.').slice(1), ...other.token.split('.').slice(1)]
    const keyFile = JSON.parse(readFileSync(join(service.dataDir, 'token.key'), 'utf8')) as { k: string }
    secrets.push(keyFile.k)

    // Tokens in every place, good, bad, twice and beside each other.
    await service.upload(BYTES, { token, headers: { 'x-visibility': 'private', 'x-filename': 'SECRETNAME.txt' } })
    for (const path of [
      '/api/usage',
      '/api/files',
      `/p/${SHA256}`,
      '/nowhere',
      '/healthz',
      '/api/tokens',
      '//',
      '/%zz',
    ]) {
      await service.fetch(`${path}?token=${token}`)
      await service.fetch(`${path}?token=${token}&token=${token}`)
      await service.fetch(path, { headers: bearer(token) })
      await service.fetch(path, { headers: { authorization: `Basic ${token}` } })
      await service.fetch(`${path}?token=${token}x`, { headers: bearer(`${other.token}y`) })
      await service.fetch(`${path}?token=${token}`, { method: 'PATCH' })
      await service.fetch(`${path}?secretquery=SECRETQUERY`, { headers: { referer: `https://x/?token=${token}` } })
    }
    const share = await service.fetch(`/api/files/${SHA256}/share`, {
      method: 'POST',
      body: '{"ttlSeconds":60}',
      headers: { 'content-type': 'application/json', ...bearer(token) },
    })
    const { url } = (await share.json()) as { url: string }
    const link = new URL(url).searchParams.get('share') ?? ''
    secrets.push(link, ...link.split('.'))
    expect((await fetch(url)).status).toBe(200)
    await fetch(`${url}x`)
    await service.fetch('/api/auth/signup', {
      method: 'POST',
      body: `{"email":"${token}","label":"${link}"}`,
      headers: { 'content-type': 'application/json' },
    })

    // Failures that are logged with their causes.
    blobs.fail('open')
    await service.fetch(`/p/${SHA256}?token=${token}`)
    prover.refuseNext('refused\r\n{"level":60,"forged":true}\u001b[31m')
    await service.upload(randomBytes(100_000), { token })
    blobs.fail('commit')
    await service.upload(Buffer.from('failing'), { token })

    // What is no sound request, with secrets in it.
    for (const bytes of [
      `GET /p/x?token=${token} HTTP/1.1\r\nHost: localhost\r\nHost: b\r\nAuthorization: Bearer ${token}\r\n\r\n`,
      `GET http://${token}@h/?token=${token} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      `GET /?token=${token} HTTP/1.1\r\nHost: localhost\r\nX: \u0001\r\n\r\n`,
      `garbage ${token}\r\n\r\n`,
      `POST /api/upload?cid=${SHA256}&token=${token} HTTP/1.1\r\nHost: localhost\r\nExpect: ${token}\r\nContent-Length: 1\r\n\r\n`,
      `GET /api/usage HTTP/1.1\r\nHost: localhost\r\nX-Big: ${token.repeat(100)}\r\n\r\n`,
      `GET /p/\u001b[31m\u0007%0d%0a{"level":60} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    ]) {
      await rawRequest(service.url, bytes)
    }
    await sleep(50)
    await service.close()

    expect(service.logLines.length).toBeGreaterThan(50)
    for (const line of service.logLines) {
      expect(line).toMatch(/^\{\P{Cc}*\}\n$/u)
      expect(JSON.parse(line)).not.toHaveProperty('forged')
    }
    const everything = service.logLines.join('')
    for (const secret of [...secrets, 'SECRETQUERY', 'SECRETNAME', 'pk_live_', 'token=', 'share=']) {
      expect(everything.includes(secret), `the log holds ${secret.slice(0, 12)}…`).toBe(false)
    }
  })

  it('finds every error answer by its request id', async () => {
    const answers: Record<string, unknown>[] = []
    const ask = async (path: string, init?: RequestInit) => {
      const response = await service.fetch(path, init)
      const body = (await response.json()) as Record<string, unknown>
      expect(response.headers.get('x-request-id')).toBe(body.requestId)
      answers.push(body)
    }
    await ask('/nowhere')
    await ask('/p/x')
    await ask(`/p/${SHA256}`)
    await ask('/api/usage')
    await ask('/api/upload', { method: 'PATCH' })
    await ask('/api/upload?cid=x&cid=x', { method: 'POST' })
    await ask('/api/auth/signup', { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } })
    await ask('/%zz')
    for (const bytes of [
      'GET /x HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n',
      'POST /x HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\nContent-Length: 1\r\n\r\n',
      'garbage\r\n\r\n',
      `GET /x HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    ]) {
      const [, body = ''] = (await rawRequest(service.url, bytes)).split('\r\n\r\n')
      answers.push(JSON.parse(body))
    }
    expect(answers.map(({ error }) => error)).toEqual([
      'not_found',
      'invalid_cid',
      'not_found',
      'no_token',
      'method_not_allowed',
      'bad_request',
      'invalid_json',
      'bad_request',
      'bad_request',
      'expectation_failed',
      'bad_request',
      'headers_too_large',
    ])
    await vi.waitFor(() => {
      for (const { requestId, error, status } of answers) {
        const line = service.logged().find((logged) => logged.requestId === requestId)
        expect(line, `${error} is in the log`).toMatchObject({ status })
      }
    })
    expect(new Set(answers.map(({ requestId }) => requestId)).size).toBe(answers.length)
  })

  it('notes what an upload was, and not who asked', async () => {
    await service.upload(BYTES)
    await vi.waitFor(
      () =>
        expect(service.logged()).toContainEqual(
          expect.objectContaining({
            method: 'POST',
            path: '/api/upload',
            status: 200,
            cid: SHA256,
            sizeBytes: 6,
            tier: 'sponsored',
            complete: true,
          }),
        ),
      10_000,
    )
  })
})

describe('the log of a caller that is refused without end', () => {
  it('has 100 lines and then one that counts the rest, whatever the requests are', async () => {
    const service = await runService()
    const counts = { sent: 0 }
    const keepAsking = async (bytes: string): Promise<void> => {
      for (let round = 0; round < 30; round += 1) {
        await rawRequest(service.url, bytes)
        counts.sent += bytes.match(/^(?:GET|no)/gm)?.length ?? 0
      }
    }
    const unknown = 'GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\n'
    const attacks = [`${`${unknown}\r\n`.repeat(15)}${unknown}Connection: close\r\n\r\n`, 'no request\r\n\r\n']
    await Promise.all(attacks.flatMap((bytes) => Array.from({ length: 4 }, () => keepAsking(bytes))))
    await service.upload(BYTES)
    await service.remove()
    const lines = service.logged().filter(({ status }) => Number(status) >= 400)
    const summaries = service.logged().filter(({ msg }) => msg === 'refused requests omitted from the log')
    const leftOut = summaries.reduce((sum, summary) => sum + Number(summary.leftOut), 0)
    expect(summaries).toEqual([expect.objectContaining({ principal: 'ip:127.0.0.1' })])
    expect(lines.length + leftOut).toBe(counts.sent)
    expect(leftOut).toBeGreaterThan(0)
    // What is not refused is logged all the same.
    expect(service.logged()).toContainEqual(expect.objectContaining({ path: '/api/upload', status: 200 }))
  })
})

describe('the log levels of requests', () => {
  it.each([
    ['debug', ['/healthz', '/p/x']],
    ['info', ['/p/x']],
    ['error', []],
  ])('at %s has a line for %j, of a successful read and a refusal', async (level, paths) => {
    const service = await runService({ env: { LADE_LOG_LEVEL: level } })
    await service.fetch('/healthz')
    await service.fetch('/p/x')
    await service.remove()
    expect(service.logged().flatMap(({ path }) => (path === undefined ? [] : [path]))).toEqual(paths)
  })
})
