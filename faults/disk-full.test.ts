import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Answer, type Caller, errorCode, send, tokenCaller } from './caller.ts'
import { type Content, newContent } from './content.ts'
import { readDataDirectory } from './data-directory.ts'
import { eventually } from './eventually.ts'
import { describeScenario, mounting } from './harness.ts'
import { atRest, brokenInvariants } from './invariants.ts'
import { Ledger } from './ledger.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { mountTmpfs } from './mount.ts'
import { PLAN } from './plan.ts'
import { openSocket, uploadHead } from './raw-upload.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { tempDirectory } from './temp-directory.ts'

const KB = 1024
const MB = 1024 * KB
const ENV = { ...BOUNDLESS_QUOTAS, LADE_LOG_LEVEL: 'silent' }
const UPLOADS_AT_ONCE = 8
/** Two rounds of upkeep, and what the machine may be late. */
const CLEANUP_MS = 12_000

async function startOnSmallDisk(sizeBytes: number, env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const dataDir = join(tempDirectory(), 'disk')
  mountTmpfs(dataDir, sizeBytes)
  return startServer({ dataDir, env: { ...ENV, ...env } })
}

interface Uploads {
  readonly user: Caller
  readonly ledger: Ledger
  readonly sizeBytes: number
}

/** Several uploads that compete for what room there is. @throws {Error} when one of them gets no answer. */
async function uploadAtOnce(server: ServerProcess, { user, ledger, sizeBytes }: Uploads): Promise<Answer[]> {
  const uploads = Array.from({ length: UPLOADS_AT_ONCE }, () => ledger.upload(server.url, user, newContent(sizeBytes)))
  const answers = await Promise.all(uploads)
  return answers.map((answer) => {
    if (answer === undefined) throw new Error('The service broke the connection.')
    return answer
  })
}

/** Uploads until all at once are refused; answers the refusals. */
async function uploadUntilRefused(server: ServerProcess, uploads: Uploads): Promise<Answer[]> {
  for (;;) {
    const answers = await uploadAtOnce(server, uploads)
    if (answers.every((answer) => answer.status !== 200)) return answers
  }
}

/** Large files first, then what fits between them, down to files that live in the database. */
async function fillToTheBrim(server: ServerProcess, user: Caller, ledger: Ledger): Promise<void> {
  for (const sizeBytes of [1 * MB, 200 * KB, 65 * KB, 8 * KB, 1 * KB]) {
    const refusals = await uploadUntilRefused(server, { user, ledger, sizeBytes })
    const codes = new Set(refusals.map((answer) => `${answer.status} ${errorCode(answer)}`))
    expect([...codes]).toEqual(['507 insufficient_storage'])
  }
  expectRefused(ledger)
}

/** Counts the unknown uploads of the ledger as refused, since a 507 says that nothing was kept. */
function expectRefused(ledger: Ledger): void {
  const statuses = new Set(ledger.unknowns.map((staging) => staging.status))
  expect([...statuses]).toEqual([507])
  for (const staging of ledger.unknowns) staging.outcome = 'refused'
}

/** Sends only the head of an upload that waits for permission to send its body; answers what came back within 3 s. */
async function askToUpload(server: ServerProcess, user: Caller, content: Content): Promise<string> {
  const socket = await openSocket(server.url)
  let answer = ''
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  const head = uploadHead(server.url, { ...user, headers: { ...user.headers, Expect: '100-continue' } }, content)
  socket.write(head)
  await eventually(() => (answer.includes('\r\n\r\n') ? [] : ['no answer yet']), 3000)
  socket.destroy()
  return answer.split('\r\n')[0] ?? ''
}

/** A service whose disk was full looks for room every two seconds. */
async function uploadOnce(server: ServerProcess, user: Caller, ledger: Ledger): Promise<readonly string[]> {
  const answer = await ledger.upload(server.url, user, newContent(1 * MB))
  return answer?.status === 200 ? [] : [`upload answered ${answer?.status}`]
}

describeScenario({ id: 'disk-full', name: 'a full disk', needs: [mounting] }, () => {
  test('refuses uploads, keeps serving, and takes uploads again when files were removed', async () => {
    const server = await startOnSmallDisk(24 * MB, {})
    const user = await tokenCaller(server.url)
    const ledger = new Ledger()
    await uploadUntilRefused(server, { user, ledger, sizeBytes: 1 * MB })
    for (let asked = 0; asked < PLAN.refusedByFullDisk; asked += UPLOADS_AT_ONCE) {
      const answers = await uploadAtOnce(server, { user, ledger, sizeBytes: 1 * MB })
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        expect([answer.status, errorCode(answer)]).toEqual([507, 'insufficient_storage'])
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      }
    }
    expectRefused(ledger)
    expect(ledger.acks.length).toBeGreaterThan(10)
    expect(await brokenInvariants(server, ledger)).toEqual([])
    expect((await send(server.url, 'GET', '/api/files', { headers: user.headers })).status).toBe(200)
    expect((await send(server.url, 'GET', '/healthz')).status).toBe(200)

    for (const staging of ledger.acks.slice(0, 5)) {
      expect((await ledger.remove(server.url, staging))?.status).toBeLessThan(300)
    }
    expect(await eventually(() => atRest(readDataDirectory(server.dataDir)), CLEANUP_MS)).toEqual([])
    expect(await eventually(() => uploadOnce(server, user, ledger), CLEANUP_MS)).toEqual([])
    expect(await brokenInvariants(server, ledger)).toEqual([])
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  test('returns every reservation once there is room again, when not even the records had any', async () => {
    const server = await startOnSmallDisk(16 * MB, {})
    const ballast = join(server.dataDir, 'ballast')
    writeFileSync(ballast, Buffer.alloc(2 * MB))
    const user = await tokenCaller(server.url)
    const ledger = new Ledger()
    await fillToTheBrim(server, user, ledger)
    expect((await send(server.url, 'GET', `/p/${ledger.acks[0]?.content.cid}`)).status).toBe(200)
    expect((await send(server.url, 'GET', '/api/usage', { headers: user.headers })).status).toBe(200)

    rmSync(ballast)
    const left = () => atRest(readDataDirectory(server.dataDir))
    expect(await eventually(left, CLEANUP_MS)).toEqual([])
    expect(await eventually(() => uploadOnce(server, user, ledger), CLEANUP_MS)).toEqual([])
    expect(await brokenInvariants(server, ledger)).toEqual([])
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  test('lets files be removed when not even the records have room', async () => {
    const server = await startOnSmallDisk(16 * MB, {})
    const user = await tokenCaller(server.url)
    const ledger = new Ledger()
    await fillToTheBrim(server, user, ledger)
    const large = ledger.acks.filter((staging) => staging.content.sizeBytes === 1 * MB).slice(0, 4)
    for (const staging of large) {
      const answer = await ledger.remove(server.url, staging)
      expect(answer?.status, answer?.body.toString()).toBeLessThan(300)
    }
    expect(await eventually(() => atRest(readDataDirectory(server.dataDir)), CLEANUP_MS)).toEqual([])
    expect(await eventually(() => uploadOnce(server, user, ledger), CLEANUP_MS)).toEqual([])
    expect(await brokenInvariants(server, ledger)).toEqual([])
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  test('refuses an upload that would leave less than the configured room, before its body', async () => {
    const server = await startOnSmallDisk(24 * MB, { LADE_MIN_FREE_MB: '10' })
    const user = await tokenCaller(server.url)
    const ledger = new Ledger()
    expect(await askToUpload(server, user, newContent(1 * MB))).toBe('HTTP/1.1 100 Continue')
    await uploadUntilRefused(server, { user, ledger, sizeBytes: 1 * MB })
    const { bavail, bsize } = statfsSync(server.dataDir)
    expect(bavail * bsize).toBeGreaterThanOrEqual(9 * MB)
    expect(await askToUpload(server, user, newContent(4 * MB))).toBe('HTTP/1.1 507 Insufficient Storage')
    expectRefused(ledger)
    expect(await eventually(() => atRest(readDataDirectory(server.dataDir)), 2000)).toEqual([])
    expect(await brokenInvariants(server, ledger)).toEqual([])
  })

  test('refuses small files too that would leave less than the configured room', async () => {
    const server = await startOnSmallDisk(24 * MB, { LADE_MIN_FREE_MB: '100' })
    const user = await tokenCaller(server.url)
    const ledger = new Ledger()
    expect((await ledger.upload(server.url, user, newContent(100 * KB)))?.status).toBe(507)
    expect((await ledger.upload(server.url, user, newContent(10 * KB)))?.status).toBe(507)
  })
})
