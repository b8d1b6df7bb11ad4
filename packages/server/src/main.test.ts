import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS } from '@lade/core/time'
import { sha256Hex } from '@lade/node/hashing/sha256'
import Database from 'better-sqlite3'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openFakeProver } from './proving/fake-prover.ts'
import { openFaultyBlobStore } from './testing/doubles/faulty-blob-store.ts'
import {
  bearer,
  databaseFileOf,
  type RunningService,
  type RunOptions,
  runService,
} from './testing/running/running-service.ts'
import { rotateKeyFile } from './tokens/key-file.ts'

const SMALL = Buffer.from('a small body')

const running: RunningService[] = []
afterEach(async () => {
  for (const service of running.splice(0).reverse()) await service.remove()
})

async function run(options?: RunOptions): Promise<RunningService> {
  const service = await runService(options)
  running.push(service)
  return service
}

const json = async (response: Response) => (await response.json()) as Record<string, unknown>
const errorOf = async (response: Response) => [response.status, (await json(response)).error]

describe('startLade', () => {
  it('listens on a free port and says where', async () => {
    const service = await run()
    expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await service.fetch('/healthz')).status).toBe(200)
    expect(await json(await service.fetch('/readyz'))).toMatchObject({ status: 'ready' })
  })

  it('keeps its data across a restart', async () => {
    const service = await run()
    await service.upload(SMALL)
    const large = randomBytes(300_000)
    await service.upload(large)
    await service.close()
    const again = await run({ dataDir: service.dataDir })
    for (const bytes of [SMALL, large]) {
      const response = await again.fetch(`/p/${sha256Hex(bytes)}`)
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
    }
  })

  it('logs a warning about a setting that is given under its old name, and nothing about its new name', async () => {
    const warningsOf = async (env: Record<string, string>) => {
      const service = await run({ env })
      return service.logLines.filter((line) => line.includes('an old name'))
    }
    const warnings = await warningsOf({ LADE_TOKEN_DAYS: '5' })
    expect(warnings.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, msg: 'LADE_TOKEN_DAYS is an old name; use LADE_TOKEN_FILE_DAYS instead' },
    ])
    expect(await warningsOf({ LADE_TOKEN_FILE_DAYS: '5' })).toEqual([])
  })

  it('can be closed twice, also at once, and serves nothing then', async () => {
    const service = await run()
    await Promise.all([service.close(), service.close()])
    await service.close()
    await expect(service.fetch('/healthz')).rejects.toThrow()
    expect(readdirSync(join(service.dataDir, 'instances'))).toEqual([])
  })

  it('lets an upload finish that is under way when it is closed', async () => {
    const service = await run()
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    const head = `POST /api/upload?cid=${sha256Hex(SMALL)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: a/b\r\n`
    socket.write(`${head}Content-Length: ${SMALL.length}\r\nExpect: 100-continue\r\n\r\n`)
    await vi.waitFor(() => expect(answer).toContain('100 Continue'), 10_000)
    const closing = service.close()
    await sleep(50)
    socket.write(SMALL)
    await vi.waitFor(() => expect(answer).toContain('HTTP/1.1 200'), 10_000)
    await closing
    socket.destroy()
  })

  it('error: ends what is still under way when the time to drain is over, and closes all the same', async () => {
    const service = await run({ env: { LADE_DRAIN_SECONDS: '1' } })
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    socket.on('error', () => {})
    socket.write(
      `POST /api/upload?cid=${sha256Hex(SMALL)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: a/b\r\nContent-Length: 9\r\n\r\nabc`,
    )
    await sleep(100)
    await service.close()
    await vi.waitFor(() => expect(answer).toContain('shutting_down'), 10_000)
    socket.destroy()
  })

  it('error: a port in use rejects, and leaves nothing open', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const service = await run()
    await service.close()
    const env = { LADE_PORT: String((other.address() as AddressInfo).port) }
    const handles = process.getActiveResourcesInfo().length
    await expect(runService({ dataDir: service.dataDir, env })).rejects.toThrow(
      /cannot listen on .* another program uses this address/,
    )
    await new Promise((resolve) => other.close(resolve))
    expect(readdirSync(join(service.dataDir, 'instances'))).toEqual([])
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(handles)
    const again = await run({ dataDir: service.dataDir })
    expect((await again.fetch('/readyz')).status).toBe(200)
  })

  it('error: data of a newer version is refused, and left as it is', async () => {
    const service = await run()
    await service.close()
    const file = databaseFileOf(service.config)
    const database = new Database(file)
    database.pragma('user_version = 999')
    database.close()
    await expect(runService({ dataDir: service.dataDir })).rejects.toThrow('schema version 999')
    const untouched = new Database(file)
    expect(untouched.pragma('user_version', { simple: true })).toBe(999)
    untouched.close()
    expect(readdirSync(join(service.dataDir, 'instances'))).toEqual([])
  })

  it('error: bytes that cannot be removed do not keep the service from starting', async () => {
    const now = { at: Date.now() }
    const blobs = openFaultyBlobStore()
    const substitutes = { blobs, now: () => now.at }
    const env = { LADE_INLINE_KB: '0' }
    const service = await run({ env, substitutes })
    await service.upload(SMALL)
    await service.close()
    now.at += 8 * DAY_MS
    blobs.fail('delete', 100)
    const again = await run({ env, substitutes, dataDir: service.dataDir })
    expect((await again.fetch('/healthz')).status).toBe(200)
  })

  it('error: a part that cannot be closed does not keep the others open', async () => {
    const blobs = openFaultyBlobStore()
    const close = async (): Promise<void> => {
      throw new Error('this part does not close')
    }
    const service = await runService({ substitutes: { blobs: { ...blobs, close } } })
    await service.close().catch(() => {})
    const held = readdirSync(join(service.dataDir, 'instances'))
    rmSync(service.dataDir, { recursive: true, force: true })
    expect(held).toEqual([])
  })

  it('warns that signup is open where others can reach it, and only there', async () => {
    const warned = (service: RunningService) => service.logLines.some((line) => line.includes('signup is open'))
    expect(warned(await run())).toBe(false)
    expect(warned(await run({ env: { LADE_HOST: '0.0.0.0' } }))).toBe(true)
    expect(warned(await run({ env: { LADE_HOST: '0.0.0.0', LADE_SIGNUP: 'closed' } }))).toBe(false)
  })
})

describe('the signing key of a running service', () => {
  it('error: without a key that can be read, what needs a token is auth_offline and the rest goes on', async () => {
    const service = await run()
    const { token } = await service.signUp()
    await service.close()
    writeFileSync(join(service.dataDir, 'token.key'), 'no key')
    const again = await run({ dataDir: service.dataDir })
    const offline = await again.fetch('/api/usage', { headers: bearer(token) })
    expect(offline.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await errorOf(offline)).toEqual([503, 'auth_offline'])
    const signup = {
      method: 'POST',
      body: '{"email":"a@b.example","label":"x"}',
      headers: { 'content-type': 'application/json' },
    }
    expect(await errorOf(await again.fetch('/api/auth/signup', signup))).toEqual([503, 'auth_offline'])
    expect((await again.upload(SMALL)).status).toBe(200)
    expect((await again.fetch(`/p/${sha256Hex(SMALL)}`)).status).toBe(200)
    const ready = await again.fetch('/readyz')
    expect([ready.status, await json(ready)]).toMatchObject([503, { dependencies: { signingKey: 'failed' } }])
  })

  it('takes a key that is rotated in its file, which ends every token signed before', async () => {
    const service = await run()
    const { token } = await service.signUp()
    expect((await service.fetch('/api/usage', { headers: bearer(token) })).status).toBe(200)
    await rotateKeyFile({ file: join(service.dataDir, 'token.key'), now: new Date() })
    await vi.waitFor(
      async () => {
        const response = await service.fetch('/api/usage', { headers: bearer(token) })
        expect(await errorOf(response)).toEqual([401, 'invalid_token'])
      },
      { timeout: 5000, interval: 100 },
    )
    const fresh = await service.signUp()
    expect((await service.fetch('/api/usage', { headers: bearer(fresh.token) })).status).toBe(200)
  })

  it('takes its key from the configuration and makes no file then', async () => {
    const service = await run({ env: { LADE_TOKEN_KEY: randomBytes(32).toString('hex') } })
    const { token } = await service.signUp()
    expect((await service.fetch('/api/usage', { headers: bearer(token) })).status).toBe(200)
    expect(readdirSync(service.dataDir)).not.toContain('token.key')
  })
})

describe('a service without storage', () => {
  it('error: answers storage_offline to uploads and retrieval, and the rest goes on', async () => {
    const service = await run({ env: { LADE_STORAGE: 'none' } })
    const upload = await service.upload(SMALL)
    expect(upload.headers.get('retry-after')).toBe('60')
    expect(await errorOf(upload)).toEqual([503, 'storage_offline'])
    expect(await errorOf(await service.fetch(`/p/${sha256Hex(SMALL)}`))).toEqual([503, 'storage_offline'])
    expect(await errorOf(await service.upload(SMALL, { cid: 'x' }))).toEqual([400, 'invalid_cid'])
    const { token } = await service.signUp()
    expect((await service.fetch('/api/usage', { headers: bearer(token) })).status).toBe(200)
    const ready = await service.fetch('/readyz')
    expect([ready.status, await json(ready)]).toMatchObject([503, { dependencies: { storage: 'none', records: 'ok' } }])
  })
})

describe('faults behind a running service', () => {
  it('error: a file that the prover refuses is stage_failed, kept nowhere and charged to nobody', async () => {
    const prover = openFakeProver()
    const blobs = openFaultyBlobStore()
    const service = await run({ env: { LADE_AGGREGATE_BELOW_MB: '0' }, substitutes: { provers: [prover], blobs } })
    const { token } = await service.signUp()
    prover.refuseNext('no room')
    const refused = await service.upload(randomBytes(300_000), { token, cid: 'myfile0001' })
    expect(refused.status).toBe(502)
    expect(await json(refused)).toMatchObject({ error: 'stage_failed', reason: 'no room' })
    expect((await service.fetch('/p/myfile0001')).status).toBe(404)
    const usage = await json(await service.fetch('/api/usage', { headers: bearer(token) }))
    expect(usage).toMatchObject({ today: { bytes: 0, reservedBytes: 0, files: 0 }, stored: { files: 0 } })
    expect(await blobs.digests()).toEqual([])
    expect(await blobs.pendingHolders()).toEqual([])
    // The name is free: other bytes may take it.
    expect((await service.upload(Buffer.from('other'), { token, cid: 'myfile0001' })).status).toBe(200)
  })

  it('error: a prover that does not answer is stage_failed, and says when to come again', async () => {
    const prover = openFakeProver()
    const service = await run({ env: { LADE_AGGREGATE_BELOW_MB: '0' }, substitutes: { provers: [prover] } })
    prover.script.isUnreachable = true
    const refused = await service.upload(randomBytes(300_000))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([502, '5'])
  })

  it('answers small files at once, and every file where that is configured, whoever answers behind it', async () => {
    const prover = openFakeProver()
    prover.script.isUnreachable = true
    const service = await run({ substitutes: { provers: [prover] } })
    expect((await service.upload(randomBytes(300_000))).status).toBe(200)
    const async = await run({
      env: { LADE_STAGE: 'async', LADE_AGGREGATE_BELOW_MB: '0' },
      substitutes: { provers: [prover] },
    })
    expect((await async.upload(randomBytes(300_000))).status).toBe(200)
  })

  it('error: a file whose bytes cannot be removed is gone all the same, and its bytes go later', async () => {
    const blobs = openFaultyBlobStore()
    const service = await run({ env: { LADE_INLINE_KB: '0' }, substitutes: { blobs } })
    const { token } = await service.signUp()
    await service.upload(SMALL, { token })
    blobs.fail('delete')
    const path = `/api/files/${sha256Hex(SMALL)}`
    const removed = await service.fetch(path, { method: 'DELETE', headers: bearer(token) })
    expect([removed.status, await json(removed)]).toMatchObject([200, { status: 'removed' }])
    expect(await errorOf(await service.fetch(`/p/${sha256Hex(SMALL)}`))).toEqual([410, 'gone'])
    expect(await blobs.digests()).toEqual([sha256Hex(SMALL)])
    await vi.waitFor(async () => expect(await blobs.digests()).toEqual([]), { timeout: 10_000, interval: 200 })
  })

  it('error: a client that leaves while its small upload is decided is no failure of the service', async () => {
    const blobs = openFaultyBlobStore()
    const requireRoom = () => sleep(100)
    const service = await run({ substitutes: { blobs: { ...blobs, requireRoom } } })
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.on('error', () => {})
    const head = `POST /api/upload?cid=${sha256Hex(SMALL)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: a/b\r\n`
    socket.write(Buffer.concat([Buffer.from(`${head}Content-Length: ${SMALL.length}\r\n\r\n`), SMALL]))
    await sleep(30)
    socket.resetAndDestroy()
    await sleep(200)
    expect(service.logged().filter(({ level }) => Number(level) >= 50)).toEqual([])
    expect((await service.fetch('/healthz')).status).toBe(200)
  })

  it('error: a store that fails while a file is opened is storage_failed, and nothing of the cause is shown', async () => {
    const blobs = openFaultyBlobStore()
    const service = await run({ env: { LADE_INLINE_KB: '0' }, substitutes: { blobs } })
    await service.upload(SMALL)
    blobs.fail('open')
    const response = await service.fetch(`/p/${sha256Hex(SMALL)}`)
    const body = await json(response)
    expect([response.status, body.error]).toEqual([503, 'storage_failed'])
    expect(JSON.stringify(body)).not.toContain('injected')
    const line = service.logged().find(({ requestId, msg }) => msg === 'failed' && requestId === body.requestId)
    expect(JSON.stringify(line)).toContain('injected: open')
  })
})

describe('the term of a file', () => {
  it.each([
    ['in the records', {}],
    ['in the blob store', { LADE_INLINE_KB: '0' }],
  ])('ends: 410 gone from that instant on, and bytes %s are removed', async (_place, env) => {
    const clock = { now: Date.UTC(2026, 10, 21, 12) }
    const blobs = openFaultyBlobStore()
    const service = await run({
      env: { LADE_DISCARD_GRACE_HOURS: '0', ...env },
      substitutes: { now: () => clock.now, blobs },
    })
    const staged = await json(await service.upload(SMALL))
    const path = `/p/${sha256Hex(SMALL)}`
    clock.now = Date.parse(String(staged.expiresAt)) - 1
    // Twice, so that the second answer is the one from memory.
    expect([(await service.fetch(path)).status, (await service.fetch(path)).status]).toEqual([200, 200])
    clock.now += 1
    const ended = await service.fetch(path)
    expect([ended.status, await json(ended)]).toMatchObject([410, { error: 'gone', reason: 'expired' }])
    await vi.waitFor(async () => expect(await blobs.digests()).toEqual([]), { timeout: 10_000, interval: 200 })
    expect((await service.fetch(path)).status).toBe(410)
    expect((await service.upload(SMALL)).status).toBe(200)
    expect((await service.fetch(path)).status).toBe(200)
  })
})

describe('two services on one data directory', () => {
  const pair = async (env: Record<string, string> = {}) => {
    const one = await run({ env })
    const other = await run({ env, dataDir: one.dataDir })
    return { one, other }
  }

  it('see each other’s files at once, also when one of them is cached', async () => {
    const { one, other } = await pair()
    const { token } = await one.signUp()
    const path = `/p/${sha256Hex(SMALL)}`
    expect((await other.fetch(path)).status).toBe(404)
    await one.upload(SMALL, { token })
    for (let round = 0; round < 3; round += 1) expect((await other.fetch(path)).status).toBe(200)
    await one.fetch(`/api/files/${sha256Hex(SMALL)}`, { method: 'DELETE', headers: bearer(token) })
    expect((await other.fetch(path)).status).toBe(410)
    await other.upload(SMALL, { token })
    expect((await one.fetch(path)).status).toBe(200)
  })

  it('refuse a token at once where it was revoked, and within two seconds everywhere else', async () => {
    const { one, other } = await pair()
    const { token } = await one.signUp()
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { jti: string }
    for (const service of [one, other]) {
      expect((await service.fetch('/api/usage', { headers: bearer(token) })).status).toBe(200)
    }
    await one.fetch('/api/tokens/revoke', {
      method: 'POST',
      body: JSON.stringify({ jti: claims.jti }),
      headers: { 'content-type': 'application/json', ...bearer(token) },
    })
    const ask = async (service: RunningService) =>
      errorOf(await service.fetch('/api/usage', { headers: bearer(token) }))
    expect(await ask(one)).toEqual([401, 'revoked_token'])
    await vi.waitFor(async () => expect(await ask(other)).toEqual([401, 'revoked_token']), { timeout: 2000 })
  })

  it('share one quota, to the byte', async () => {
    const { one, other } = await pair({ LADE_SPONSORED_DAILY_MB: '1', LADE_SPONSORED_FILE_MB: '1' })
    const bodies = Array.from({ length: 6 }, () => randomBytes(262_144))
    const statuses = await Promise.all(
      bodies.map(async (bytes, index) => (await (index % 2 === 0 ? one : other).upload(bytes)).status),
    )
    expect(statuses.sort()).toEqual([200, 200, 200, 200, 429, 429])
    const last = await one.upload(Buffer.from('a'))
    expect([last.status, await json(last)]).toMatchObject([429, { error: 'rate_limited', used: 1_048_576 }])
  })

  it('leave each other’s uploads in flight alone when one starts and ends', async () => {
    const one = await run()
    const socket = connect(Number(new URL(one.url).port), '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    const bytes = randomBytes(300_000)
    const head = `POST /api/upload?cid=${sha256Hex(bytes)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: a/b\r\n`
    socket.write(`${head}Content-Length: ${bytes.length}\r\nExpect: 100-continue\r\n\r\n`)
    await vi.waitFor(() => expect(answer).toContain('100 Continue'), 10_000)
    socket.write(bytes.subarray(0, 1000))
    const other = await run({ dataDir: one.dataDir })
    await other.close()
    socket.write(bytes.subarray(1000))
    await vi.waitFor(() => expect(answer).toContain('HTTP/1.1 200'), 10_000)
    socket.destroy()
  })

  it('clean up after a service that was cut off', async () => {
    const one = await run()
    await one.close()
    const dead = randomUUID()
    mkdirSync(join(one.dataDir, 'objects', 'pending', dead), { recursive: true })
    const database = new Database(databaseFileOf(one.config))
    database.prepare('INSERT INTO instances (id, started_at) VALUES (?, 0)').run(dead)
    database.close()
    const again = await run({ dataDir: one.dataDir })
    expect(again.logged()).toContainEqual(expect.objectContaining({ deadInstances: 1 }))
  })
})
