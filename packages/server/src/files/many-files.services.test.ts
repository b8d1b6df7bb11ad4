import type { FileList } from '@lade/core/wire'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Postgres, startPostgres } from '../../../../services/postgres.ts'
import { processorSlowness } from '../../../../tools/tests/processor-slowness.ts'
import { FREQUENT_WORD, fillWithFiles, RARE_WORD } from '../testing/running/many-files.ts'
import { bearer, type RunningService, runService } from '../testing/running/running-service.ts'

const FILES = 100_000
/** As many as the console asks for at a time. */
const PAGE_FILES = 250
/** How long a page may take, the median of all, on a machine that is not slowed down. */
const MEDIAN_MS = 100

/** What the console asks for, and how many files it finds. */
const SEARCHES: readonly { readonly what: string; readonly query: Record<string, string>; readonly found: number }[] = [
  { what: 'all', query: {}, found: FILES },
  { what: 'a frequent word', query: { q: FREQUENT_WORD }, found: FILES / 2 - 20 },
  { what: 'a rare word', query: { q: RARE_WORD }, found: 20 },
  { what: 'a word of no name', query: { q: 'no such name' }, found: 0 },
  { what: 'a cid', query: { q: 'ffffffff' }, found: 0 },
  { what: 'a frequent type', query: { contentType: 'text/plain' }, found: FILES / 8 },
  { what: 'a rare type', query: { contentType: 'video/mp4' }, found: 20 },
  { what: 'a frequent kind', query: { kind: 'text' }, found: FILES / 4 },
  { what: 'a rare kind', query: { kind: 'video' }, found: 20 },
  { what: 'a kind of no file', query: { kind: 'document', q: RARE_WORD }, found: 0 },
  { what: 'ends within 7 days', query: { endsWithinDays: '7' }, found: 0 },
  { what: 'ends within 30 days', query: { endsWithinDays: '30' }, found: 7121 },
  { what: 'a frequent status', query: { status: 'active' }, found: 94_425 },
  { what: 'a rare status', query: { status: 'failed' }, found: 100 },
  { what: 'expired files', query: { status: 'expired' }, found: 0 },
  {
    what: 'everything at once',
    query: { q: RARE_WORD, contentType: 'video/mp4', kind: 'video', endsWithinDays: '30', status: 'failed' },
    found: 0,
  },
]

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
})
afterAll(() => postgres.discard())

describe.each(['SQLite', 'PostgreSQL'])(`a caller with ${FILES} files on %s`, (engine) => {
  let service: RunningService
  let token: string
  beforeAll(async () => {
    const env = { ...(engine === 'PostgreSQL' && { LADE_DATABASE: await postgres.createDatabase('many_files') }) }
    const empty = await runService({ env })
    const user = await empty.signUp()
    await empty.close()
    // For minutes from here on no end comes within the days that are looked for.
    const now = Date.now() - 50_000
    await fillWithFiles(empty.config, { principal: `user:${user.userId}`, count: FILES, now })
    service = await runService({ env: { ...env, LADE_LOG_LEVEL: 'error' }, dataDir: empty.dataDir })
    token = user.token
  })
  afterAll(() => service.remove())

  async function page(query: Record<string, string>): Promise<{ list: FileList; ms: number }> {
    const startedAt = performance.now()
    const path = `/api/files?${new URLSearchParams({ limit: String(PAGE_FILES), ...query })}`
    const answer = await service.fetch(path, { headers: bearer(token) })
    const text = await answer.text()
    const ms = performance.now() - startedAt
    expect(answer.status, text).toBe(200)
    return { list: JSON.parse(text) as FileList, ms }
  }

  it.each(SEARCHES)(`gets each page within ${MEDIAN_MS} ms: $what`, async ({ what, query, found }) => {
    const times: number[] = []
    const cids = new Set<string>()
    let cursor: string | null = null
    do {
      const { list, ms }: { list: FileList; ms: number } = await page({ ...query, ...(cursor !== null && { cursor }) })
      for (const { cid } of list.files) cids.add(cid)
      times.push(ms)
      cursor = list.nextCursor
    } while (cursor !== null)
    times.sort((one, other) => one - other)
    const [median = 0, p95 = 0, longest = 0] = [0.5, 0.95, 1].map((part) => times[Math.ceil(times.length * part) - 1])
    const ms = [median, p95, longest].map((one) => one.toFixed(1)).join(' / ')
    console.log(`${engine}, ${what}: ${cids.size} files on ${times.length} pages; ${ms} ms (median, p95, longest)`)
    expect([...cids].length).toBe(found)
    expect(median).toBeLessThanOrEqual(MEDIAN_MS * processorSlowness())
  })
})
