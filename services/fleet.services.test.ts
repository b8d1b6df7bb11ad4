import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { type Fleet, startFleet } from './fleet.ts'

async function withFleet(body: (fleet: Fleet) => Promise<void>): Promise<void> {
  const fleet = await startFleet({
    env: { LADE_TRUSTED_PROXIES: '127.0.0.1', LADE_MIN_FREE_MB: '0' },
    sharesDataDir: true,
  })
  try {
    await body(fleet)
  } finally {
    await fleet.discard()
  }
}

async function info(url: URL): Promise<number> {
  const answer = await fetch(new URL('/api/info', url))
  await answer.arrayBuffer()
  return answer.status
}

test('three instances answer behind nginx, also while one of them is dead, and after it came back', async () => {
  await withFleet(async (fleet) => {
    await fleet.ready()
    const [first] = fleet.instances
    if (first === undefined) throw new TypeError('no instance')
    const pid = first.process.pid
    expect(await first.kill()).toEqual({ code: null, signal: 'SIGKILL' })
    expect(await first.isReady()).toBe(false)
    for (let request = 0; request < 20; request += 1) expect(await info(fleet.url)).toBe(200)
    await first.start()
    expect(await first.isReady()).toBe(true)
    expect(first.process.pid).not.toBe(pid)
    expect(await first.drain()).toEqual({ code: 0, signal: null })
    await first.start()
    await fleet.ready()
    expect(await info(first.url)).toBe(200)
  })
})

/** Uploads new bytes and answers what is left of the caller's day, in bytes. */
async function leftAfterUpload(fleet: Fleet, address: string): Promise<number> {
  const bytes = randomBytes(100)
  const cid = createHash('sha256').update(bytes).digest('hex')
  const answer = await fetch(new URL(`/api/upload?cid=${cid}`, fleet.url), {
    method: 'POST',
    body: bytes,
    headers: { 'Content-Type': 'text/plain', 'X-Forwarded-For': address },
  })
  const { retrievalUrl } = (await answer.json()) as { retrievalUrl: string }
  expect(retrievalUrl).toBe(`${fleet.url.origin}/p/${cid}`)
  return Number(answer.headers.get('x-ratelimit-remaining'))
}

test('callers keep the addresses that they claim, through nginx', async () => {
  await withFleet(async (fleet) => {
    const left = await leftAfterUpload(fleet, '198.18.0.1')
    expect(await leftAfterUpload(fleet, '198.18.0.2')).toBe(left)
    expect(await leftAfterUpload(fleet, '198.18.0.1')).toBe(left - 100)
  })
})

test('nothing is left in the temporary directory', async () => {
  const home = mkdtempSync(join(tmpdir(), 'lade-fleet-test-'))
  vi.stubEnv('TMPDIR', home)
  try {
    await withFleet(async (fleet) => {
      await fleet.ready()
      expect(readdirSync(home)).toHaveLength(2)
    })
    expect(readdirSync(home)).toEqual([])
  } finally {
    vi.unstubAllEnvs()
    rmSync(home, { recursive: true })
  }
})
