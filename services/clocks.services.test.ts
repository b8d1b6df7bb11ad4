import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from './free-port.ts'
import { type Lade, startLade } from './lade.ts'
import { startPostgres } from './postgres.ts'
import { openTempHome } from './temp-home.ts'

const LIBRARY = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path))
const AHEAD_SECONDS = 90
/** Two rounds of upkeep, in which an instance whose time is ahead would take the leases of the other for over. */
const UPLOAD_MS = 12_000

async function signUp(lade: Lade): Promise<string> {
  const answer = await fetch(new URL('/api/auth/signup', lade.url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: `${randomBytes(6).toString('hex')}@example.org`, label: 'clocks' }),
  })
  return ((await answer.json()) as { token: string }).token
}

/** An upload whose body takes so long that upkeep of every instance has a round meanwhile; answers its status and what was said. */
async function uploadSlowly(lade: Lade, token: string, pauseMs: number): Promise<{ cid: string; answer: string }> {
  const bytes = randomBytes(200_000)
  const cid = createHash('sha256').update(bytes).digest('hex')
  const sending = request(new URL(`/api/upload?cid=${cid}`, lade.url), {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/plain', 'Content-Length': bytes.length },
  })
  sending.write(bytes.subarray(0, 100_000))
  const timer = setTimeout(() => sending.end(bytes.subarray(100_000)), pauseMs)
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  clearTimeout(timer)
  sending.on('error', () => {})
  return { cid, answer: `${response.statusCode} ${await text(response)}` }
}

async function uploadedAt(lade: Lade, token: string, cid: string): Promise<number> {
  const answer = await fetch(new URL(`/api/files/${cid}`, lade.url), { headers: { Authorization: `Bearer ${token}` } })
  return Date.parse(((await answer.json()) as { uploadedAt: string }).uploadedAt)
}

test('of two instances on PostgreSQL one may have a clock that is 90 s ahead: uploads at both succeed, and each takes the tokens of the other', async () => {
  expect(LIBRARY, 'libfaketime (package faketime)').toBeDefined()
  const home = openTempHome('clocks')
  onTestFinished(() => home.discard())
  const postgres = await startPostgres({ fsync: false })
  onTestFinished(() => postgres.discard())
  const start = async (name: string, clock: Record<string, string>): Promise<Lade> => {
    const lade = await startLade({
      LADE_DATABASE: await postgres.createDatabase('lade'),
      LADE_STORAGE: `file:${home.path}/objects`,
      LADE_DATA_DIR: `${home.path}/${name}`,
      LADE_PORT: String(await freePort()),
      LADE_MIN_FREE_MB: '0',
      LADE_TOKEN_CONCURRENCY: '100',
      LADE_SIGNUPS_PER_HOUR: '1000',
      ...clock,
    })
    onTestFinished(async () => void (await lade.kill()))
    return lade
  }
  const right = await start('right', {})
  const fast = await start('fast', {
    LD_PRELOAD: LIBRARY ?? '',
    FAKETIME: `+${AHEAD_SECONDS}s`,
    DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  })
  const tokens = [await signUp(right), await signUp(fast)]
  // Of each ten at one instance, five have the token of the other.
  const plan = Array.from({ length: 20 }, (_, index) => ({
    at: index % 2 === 0 ? right : fast,
    token: tokens[index % 4 < 2 ? 0 : 1] ?? '',
  }))
  const uploads = await Promise.all(plan.map(({ at, token }) => uploadSlowly(at, token, UPLOAD_MS)))
  expect(uploads.filter(({ answer }) => !answer.startsWith('200 '))).toEqual([])
  const times = await Promise.all(uploads.map(({ cid }, index) => uploadedAt(right, plan[index]?.token ?? '', cid)))
  for (const at of times) expect(Math.abs(at - Date.now())).toBeLessThan(30_000)
  for (const lade of [right, fast]) expect(lade.log()).not.toContain('the clock')
})
