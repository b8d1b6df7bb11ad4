import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { checkPort, checkService } from './check-service.ts'

const NOW = Date.parse('2026-11-21T10:00:00Z')

interface Answer {
  readonly status?: number
  readonly body?: unknown
  readonly date?: string
}

/** Looks at a service that gives these answers by path; a good one where nothing else is said. */
async function look(answers: Readonly<Record<string, Answer | Error>> = {}) {
  const good: Record<string, Answer> = {
    '/healthz': { body: { status: 'ok' } },
    '/readyz': { body: { status: 'ready', dependencies: {} } },
    '/api/info': { body: { version: '0.1.0' } },
  }
  const fetch = async (url: unknown): Promise<Response> => {
    const answer = answers[new URL(String(url)).pathname] ?? good[new URL(String(url)).pathname]
    if (answer instanceof Error || answer === undefined) throw answer
    const { status = 200, body, date = new Date(NOW).toUTCString() } = answer
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers: { date } })
  }
  const found = await checkService({
    url: 'http://lade.test',
    version: '0.1.0',
    fetch: fetch as typeof globalThis.fetch,
    nowMs: () => NOW,
  })
  return { answers: found.answers, ...Object.fromEntries(found.findings.map(({ check, ...rest }) => [check, rest])) }
}

describe('checkService', () => {
  it('finds nothing wrong with a good one', async () => {
    expect(await look()).toMatchObject({
      answers: true,
      service: { state: 'ok' },
      ready: { state: 'ok' },
      clock: { state: 'ok' },
      version: { state: 'ok' },
    })
  })

  it('says why nothing answers', async () => {
    const refused = new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) })
    expect(await look({ '/healthz': refused })).toEqual({
      answers: false,
      service: {
        state: 'broken',
        sentence: expect.stringContaining('Cannot reach http://lade.test (ECONNREFUSED).'),
      },
    })
    const slow = new DOMException('late', 'TimeoutError')
    expect(await look({ '/healthz': slow })).toMatchObject({
      service: { sentence: expect.stringContaining('(no answer in 5 seconds)') },
    })
  })

  it.each([{ status: 404, body: 'no' }, { body: '<html>' }, { body: null }, { status: 302, body: '' }])(
    'takes %j for another program',
    async (answer) => {
      expect(await look({ '/healthz': answer })).toEqual({
        answers: true,
        service: { state: 'broken', sentence: expect.stringContaining('is not a Lade service') },
      })
    },
  )

  it('names the dependency that fails', async () => {
    const body = { status: 'not_ready', dependencies: { records: 'ok', storage: 'failed', process: 'draining' } }
    expect(await look({ '/readyz': { status: 503, body } })).toMatchObject({
      ready: {
        state: 'broken',
        sentence: 'The service is not ready: storage (failed), process (draining). See its log.',
      },
    })
  })

  it('says that no prover answers', async () => {
    const body = { status: 'not_ready', dependencies: { records: 'ok', prover: 'failed' } }
    expect(await look({ '/readyz': { status: 503, body } })).toMatchObject({
      ready: { state: 'broken', sentence: expect.stringMatching(/prover \(failed\)\..* No prover in LADE_PROVER/) },
    })
  })

  it('finds a signing key that is overdue', async () => {
    const signingKey = { alg: 'HS256', ageDays: 91, overdue: true }
    expect(await look({ '/readyz': { body: { status: 'ready', dependencies: {}, signingKey } } })).toMatchObject({
      ready: { state: 'ok' },
      signingKey: { state: 'warning', sentence: expect.stringContaining('91 days old') },
    })
  })

  it('finds clocks that differ by more than half a minute', async () => {
    const at = (seconds: number) =>
      look({ '/healthz': { body: { status: 'ok' }, date: new Date(NOW + seconds * 1000).toUTCString() } })
    expect(await at(20)).toMatchObject({ clock: { state: 'ok' } })
    expect(await at(3600)).toMatchObject({
      clock: { state: 'warning', sentence: expect.stringContaining('60 minutes ahead of') },
    })
    expect(await at(-300)).toMatchObject({ clock: { state: 'warning', sentence: expect.stringContaining('behind') } })
  })

  it('finds another version', async () => {
    expect(await look({ '/api/info': { body: { version: '9.0.0' } } })).toMatchObject({ version: { state: 'warning' } })
    expect(await look({ '/api/info': { status: 404, body: '' } })).toMatchObject({ version: { state: 'unknown' } })
  })
})

describe('checkPort', () => {
  it('tells a free port from one that is taken', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    expect(await checkPort('127.0.0.1', port)).toMatchObject({ state: 'broken' })
    await new Promise((resolve) => server.close(resolve))
    expect(await checkPort('127.0.0.1', port)).toMatchObject({ state: 'ok' })
  })

  it('says when nothing can listen at an address', async () => {
    expect(await checkPort('192.0.2.1', 8080)).toMatchObject({
      state: 'broken',
      sentence: expect.stringContaining('EADDRNOTAVAIL'),
    })
  })
})
