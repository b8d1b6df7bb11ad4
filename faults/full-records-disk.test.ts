import { existsSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Caller, errorCode, send, tokenCaller } from './caller.ts'
import { newContent } from './content.ts'
import { readDataDirectory } from './data-directory.ts'
import { eventually } from './eventually.ts'
import { describeScenario, mounting } from './harness.ts'
import { atRest, brokenInvariants } from './invariants.ts'
import { Ledger, type Staging } from './ledger.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { mountTmpfs, run } from './mount.ts'
import { PLAN } from './plan.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { tempDirectory } from './temp-directory.ts'

const KB = 1024
const MB = 1024 * KB
const ENV = { ...BOUNDLESS_QUOTAS, LADE_LOG_LEVEL: 'error' }
/** The reserve is made, and made again, within about two seconds. */
const RESERVE_MS = 10_000
const CLEANUP_MS = 12_000

/** Takes all the room that a disk has left, and gives it back. */
interface Ballast {
  fill(): void
  remove(): void
}

function ballastOfBytes(dir: string): Ballast {
  const file = join(dir, 'ballast')
  return {
    fill() {
      const block = Buffer.alloc(64 * KB)
      for (let flag = 'w', left = block.length; left >= 4 * KB; flag = 'a') {
        try {
          writeFileSync(file, block.subarray(0, left), { flag })
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
          left /= 2
        }
      }
      expect(statfsSync(dir).bavail * statfsSync(dir).bsize).toBeLessThan(8 * KB)
    },
    remove: () => rmSync(file),
  }
}

function ballastOfInodes(dir: string): Ballast {
  const many = join(dir, 'ballast')
  return {
    fill() {
      run('mkdir', many)
      for (let count = 0; ; count += 1) {
        try {
          writeFileSync(join(many, String(count)), '')
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
          break
        }
      }
      expect(statfsSync(dir).ffree).toBe(0)
    },
    remove: () => rmSync(many, { recursive: true }),
  }
}

async function expectReads(server: ServerProcess, user: Caller, staging: Staging): Promise<void> {
  const file = await send(server.url, 'GET', `/p/${staging.content.cid}`)
  expect([file.status, file.body.equals(staging.content.bytes())]).toEqual([200, true])
  for (const path of ['/api/files', '/api/usage']) {
    expect((await send(server.url, 'GET', path, { headers: user.headers })).status, path).toBe(200)
  }
  for (const path of ['/healthz', '/readyz']) expect((await send(server.url, 'GET', path)).status, path).toBe(200)
}

async function expectUploadsRefused(server: ServerProcess, user: Caller): Promise<void> {
  for (const sizeBytes of [1 * KB, 30 * KB, 300 * KB]) {
    const content = newContent(sizeBytes)
    const headers = { ...user.headers, 'Content-Type': 'application/octet-stream' }
    const path = `/api/upload?cid=${content.cid}`
    const answer = await send(server.url, 'POST', path, { headers, body: content.bytes() })
    expect([sizeBytes, answer.status, errorCode(answer)]).toEqual([sizeBytes, 507, 'insufficient_storage'])
  }
}

async function remove(server: ServerProcess, ledger: Ledger, stagings: readonly Staging[]): Promise<void> {
  for (const staging of stagings) {
    const answer = await ledger.remove(server.url, staging)
    expect(answer?.status, answer?.body.toString()).toBeLessThan(300)
  }
}

describeScenario({ id: 'full-records-disk', name: 'a full disk under the records', needs: [mounting] }, () => {
  const DISKS = [
    { what: 'bytes', options: {}, ballastOn: ballastOfBytes },
    { what: 'inodes', options: { inodes: 200 }, ballastOn: ballastOfInodes },
  ] as const

  test.each(PLAN.isFull ? DISKS : DISKS.slice(0, 1))(
    'ends uploads alone, also over a restart, until there are $what again',
    async ({ options, ballastOn }) => {
      const dataDir = join(tempDirectory(), 'disk')
      mountTmpfs(dataDir, 64 * MB, options)
      // The disk of the objects has room, so that the records alone decide.
      const objectsDir = tempDirectory()
      const env = { ...ENV, LADE_STORAGE: `file:${objectsDir}` }
      const server = await startServer({ dataDir, env })
      const user = await tokenCaller(server.url)
      const ledger = new Ledger()
      for (let count = 0; count < 60; count += 1) {
        const sizeBytes = [1 * KB, 30 * KB, 100 * KB][count % 3] ?? 0
        expect((await ledger.upload(server.url, user, newContent(sizeBytes)))?.status).toBe(200)
      }
      const [kept, ...others] = ledger.acks
      if (kept === undefined) throw new Error('nothing was uploaded')
      const reserve = join(dataDir, 'lade.db-reserve')
      const reserveLacks = () => (existsSync(reserve) && readdirSync(reserve).length === 8 ? [] : ['no reserve'])
      expect(await eventually(reserveLacks, RESERVE_MS)).toEqual([])

      const ballast = ballastOn(dataDir)
      ballast.fill()
      // Free space is looked at every 200 ms.
      await sleep(300)
      await expectReads(server, user, kept)
      await expectUploadsRefused(server, user)
      await remove(server, ledger, others.slice(0, 20))
      await server.kill()

      // A start moves the log into the database, which leaves some room; this setting says that it is too little for uploads.
      const next = await startServer({ dataDir, env: { ...env, LADE_MIN_FREE_MB: '12' } })
      await expectReads(next, user, kept)
      await expectUploadsRefused(next, user)
      await remove(next, ledger, others.slice(20, 40))
      await expectReads(next, user, kept)

      ballast.remove()
      const refused = async () =>
        (await ledger.upload(next.url, user, newContent(30 * KB)))?.status === 200 ? [] : ['507']
      expect(await eventually(() => refused(), RESERVE_MS)).toEqual([])
      expect((await ledger.upload(next.url, user, newContent(300 * KB)))?.status).toBe(200)
      expect(await eventually(reserveLacks, RESERVE_MS)).toEqual([])
      for (const staging of ledger.unknowns) staging.outcome = 'refused'
      expect(await eventually(() => atRest(readDataDirectory(dataDir, objectsDir)), CLEANUP_MS)).toEqual([])
      expect(await brokenInvariants(next, ledger, objectsDir)).toEqual([])
      expect(await next.stop()).toEqual({ code: 0, signal: null })
    },
  )
})
