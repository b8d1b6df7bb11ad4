import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Caller, errorCode, send, tokenCaller } from './caller.ts'
import { newContent } from './content.ts'
import { readDataDirectory } from './data-directory.ts'
import { eventually } from './eventually.ts'
import { describeScenario, loopDevices, mounting, program, tracing } from './harness.ts'
import { atRest, brokenInvariants } from './invariants.ts'
import { Ledger } from './ledger.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { run } from './mount.ts'
import { PLAN } from './plan.ts'
import { type PowerCutDisk, powerCutDisk } from './power-cut-disk.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { traceThread } from './syscall-trace.ts'
import { tempDirectory } from './temp-directory.ts'

const KB = 1024
const ENV = { ...BOUNDLESS_QUOTAS, LADE_LOG_LEVEL: 'error', LADE_METRICS_TOKEN: 'metrics-token-of-the-faults' }
/** The disk is tried every two seconds. */
const RECOVERY_MS = 10_000
const CLEANUP_MS = 12_000

interface Served {
  readonly user: Caller
  readonly ledger: Ledger
}

async function expectReadOnly(server: ServerProcess, { user, ledger }: Served): Promise<void> {
  for (const { content } of ledger.acks) {
    const file = await send(server.url, 'GET', `/p/${content.cid}`)
    expect([file.status, file.body.equals(content.bytes())], content.cid).toEqual([200, true])
    expect((await send(server.url, 'HEAD', `/p/${content.cid}`)).status).toBe(200)
  }
  const { headers } = user
  const files = await send(server.url, 'GET', '/api/files', { headers })
  expect(JSON.parse(files.body.toString()).files).toHaveLength(ledger.acks.length)
  for (const path of ['/api/usage', '/api/deals', '/api/info']) {
    expect((await send(server.url, 'GET', path, { headers })).status, path).toBe(200)
  }
  expect((await send(server.url, 'GET', '/healthz')).status).toBe(200)
  const ready = await send(server.url, 'GET', '/readyz')
  expect([ready.status, JSON.parse(ready.body.toString()).dependencies.records]).toEqual([503, 'read_only'])
  const metrics = await send(server.url, 'GET', '/metrics', {
    headers: { Authorization: `Bearer ${ENV.LADE_METRICS_TOKEN}` },
  })
  expect(metrics.body.toString()).toMatch(/^lade_read_only 1$/m)
  await expectWritesRefused(server, { user, ledger })
}

async function expectWritesRefused(server: ServerProcess, { user, ledger }: Served): Promise<void> {
  const bytes = { ...user.headers, 'Content-Type': 'application/octet-stream' }
  const json = { ...user.headers, 'Content-Type': 'application/json' }
  const signup = Buffer.from(JSON.stringify({ email: 'somebody@example.org', label: 'faults' }))
  const small = newContent(1 * KB)
  const large = newContent(300 * KB)
  const answers = await Promise.all([
    send(server.url, 'POST', `/api/upload?cid=${small.cid}`, { headers: bytes, body: small.bytes() }),
    send(server.url, 'POST', `/api/upload?cid=${large.cid}`, { headers: bytes, body: large.bytes() }),
    send(server.url, 'DELETE', `/api/files/${ledger.acks[0]?.content.cid}`, { headers: user.headers }),
    send(server.url, 'POST', '/api/auth/signup', { headers: json, body: signup }),
  ])
  expect(answers.map((answer) => `${answer.status} ${errorCode(answer)}`)).toEqual(Array(4).fill('503 read_only'))
  for (const answer of answers) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
}

/** Resolves when an upload is taken again by the process that refused it, and all is as it should be. */
async function expectRecovered(server: ServerProcess, { user, ledger }: Served): Promise<void> {
  const content = newContent(30 * KB)
  const taken = async () => ((await ledger.upload(server.url, user, content))?.status === 200 ? [] : ['not yet'])
  expect(await eventually(taken, RECOVERY_MS)).toEqual([])
  expect((await ledger.upload(server.url, user, newContent(300 * KB)))?.status).toBe(200)
  const removed = ledger.acks[0]
  if (removed !== undefined) expect((await ledger.remove(server.url, removed))?.status).toBeLessThan(300)
  for (const staging of ledger.unknowns) staging.outcome = 'refused'
  expect(await eventually(() => atRest(readDataDirectory(server.dataDir)), CLEANUP_MS)).toEqual([])
  expect(await brokenInvariants(server, ledger)).toEqual([])
  expect((await send(server.url, 'GET', '/readyz')).status).toBe(200)
}

async function startWithFiles(dataDir: string): Promise<Served & { readonly server: ServerProcess }> {
  const server = await startServer({ dataDir, env: ENV })
  const user = await tokenCaller(server.url)
  const ledger = new Ledger()
  for (const sizeBytes of [1 * KB, 30 * KB, 300 * KB]) await ledger.upload(server.url, user, newContent(sizeBytes))
  expect(ledger.acks).toHaveLength(3)
  return { server, user, ledger }
}

function remount(disk: PowerCutDisk, mode: 'ro' | 'rw'): void {
  run('mount', '-o', `remount,${mode}`, disk.path)
}

const NEEDS = [mounting, loopDevices, program('mkfs.ext4', 'e2fsprogs')]

describeScenario({ id: 'read-only-disk', name: 'a disk that takes no writes', needs: NEEDS }, () => {
  const ENDS = [
    { after: 'a clean end', end: (server: ServerProcess) => server.stop(), without: [] },
    { after: 'a crash', end: (server: ServerProcess) => server.kill(), without: [] },
    { after: 'a crash and the loss of the index', end: (server: ServerProcess) => server.kill(), without: ['-shm'] },
  ]

  test.each(PLAN.isFull ? ENDS : ENDS.slice(0, 1))(
    'is served from after $after, and written again by itself when it can be',
    async ({ end, without }) => {
      const disk = powerCutDisk()
      const dataDir = join(disk.path, 'data')
      const { server: first, ...served } = await startWithFiles(dataDir)
      await end(first)
      for (const name of without) rmSync(join(dataDir, `lade.db${name}`))
      remount(disk, 'ro')

      const server = await startServer({ dataDir, env: ENV })
      await expectReadOnly(server, served)
      remount(disk, 'rw')
      await expectRecovered(server, served)
      expect(await server.stop()).toEqual({ code: 0, signal: null })
    },
  )

  test('is served from when an error has made it read-only, also over a restart', async () => {
    const disk = powerCutDisk()
    const { server, ...served } = await startWithFiles(join(disk.path, 'data'))
    // The file system meets an error, after which it takes no writes until it has been checked.
    run('mount', '-o', 'remount,errors=remount-ro', disk.path)
    run('mount', '-o', 'remount,abort', disk.path)
    await expectWritesRefused(server, served)
    await expectReadOnly(server, served)
    await server.kill()
    const next = await startServer({ dataDir: server.dataDir, env: ENV })
    await expectReadOnly(next, served)
    expect(await next.stop()).toEqual({ code: 0, signal: null })
  })
})

describeScenario({ id: 'read-only-calls', name: 'records that cannot be written for a time', needs: [tracing] }, () => {
  test('are read meanwhile, and written again without a restart', async () => {
    const { server, ...served } = await startWithFiles(tempDirectory())
    const trace = await traceThread(server.pid, 'records', ['openat,pwrite64,ftruncate:error=EROFS'])
    await expectWritesRefused(server, served)
    for (const { content } of served.ledger.acks) {
      expect((await send(server.url, 'GET', `/p/${content.cid}`)).status).toBe(200)
    }
    await trace.detach()
    expect(trace.lines().join('\n')).toContain('EROFS')
    await expectRecovered(server, served)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })
})
