import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { send, tokenCaller, upload } from '../faults/caller.ts'
import { newContent } from '../faults/content.ts'
import type { ServerProcess } from '../faults/server-process.ts'

const CALLERS = 12
/** Contents that several callers upload and remove, so that a piece loses its last file and gets a new one again and again. */
const SHARED = 4
const SCRAPE_MS = 5000

/** What Prometheus would have stored: for each series, a value at each scrape. */
export interface Scrapes {
  readonly intervalMs: number
  readonly count: number
  readonly series: ReadonlyMap<string, readonly (string | undefined)[]>
}

export interface AlertMix {
  readonly scrapes: Scrapes
  readonly uploads: number
  readonly removals: number
  /** What `/readyz` said when a dependency failed. */
  readonly notReady: readonly string[]
}

/** Uploads, reads and removes files with 12 callers for a time, and scrapes the metrics meanwhile. */
export async function runAlertMix(server: ServerProcess, metricsToken: string, forMs: number): Promise<AlertMix> {
  const end = performance.now() + forMs
  const shared = Array.from({ length: SHARED }, (_, index) => newContent((index + 1) * 30_000))
  const done = { uploads: 0, removals: 0 }

  async function call(): Promise<void> {
    const caller = await tokenCaller(server.url)
    while (performance.now() < end) {
      const isShared = randomInt(3) === 0
      const content = (isShared && shared[randomInt(SHARED)]) || newContent(randomInt(16, 300_000))
      expectStatus(await upload(server.url, caller, content), [200])
      done.uploads += 1
      if (randomInt(2) === 0) await sleep(randomInt(300))
      // Somebody else may have removed the last file of these bytes.
      expectStatus(await send(server.url, 'GET', `/p/${content.cid}`), isShared ? [200, 404, 410] : [200])
      expectStatus(await send(server.url, 'DELETE', `/api/files/${content.cid}`, caller), [200, 204])
      done.removals += 1
    }
  }

  const notReady: string[] = []
  const series = new Map<string, (string | undefined)[]>()
  let count = 0
  async function scrape(): Promise<void> {
    const headers = { Authorization: `Bearer ${metricsToken}` }
    const metrics = await send(server.url, 'GET', '/metrics', { headers })
    const ready = await send(server.url, 'GET', '/readyz')
    if (ready.status !== 200) notReady.push(ready.body.toString())
    note('up{job="lade",instance="lade-1"}', metrics.status === 200 ? '1' : '0')
    note('probe_success{job="lade-ready",instance="lade-1"}', ready.status === 200 ? '1' : '0')
    for (const [, name, labels, value] of metrics.body.toString().matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)) {
      if (value === undefined || value === 'Nan' || value === 'NaN') continue
      note(`${name}{job="lade",instance="lade-1"${labels === undefined ? '' : `,${labels}`}}`, value)
    }
    count += 1
  }
  function note(name: string, value: string): void {
    const values = series.get(name) ?? []
    values[count] = value
    series.set(name, values)
  }
  async function scrapeAll(): Promise<void> {
    while (performance.now() < end) {
      await scrape()
      await sleep(SCRAPE_MS)
    }
    await scrape()
  }

  await Promise.all([scrapeAll(), ...Array.from({ length: CALLERS }, call)])
  return { scrapes: { intervalMs: SCRAPE_MS, count, series }, ...done, notReady }
}

function expectStatus({ status, body }: { status: number; body: Buffer }, expected: readonly number[]): void {
  if (!expected.includes(status)) throw new Error(`${status} instead of ${expected.join(' or ')}: ${body.toString()}`)
}
