import { execFileSync } from 'node:child_process'
import { CAR_MEDIA_TYPE } from '@lade/core/wire'
import { expect, test } from 'vitest'
import { processorSlowness } from '../tools/tests/processor-slowness.ts'
import { type Caller, send, sponsoredCaller, tokenCaller } from './caller.ts'
import type { CostlyRequest } from './costly-request.ts'
import { costlyRequests } from './costly-requests.ts'
import { SITES_ENV } from './costly-site-requests.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { PLAN } from './plan.ts'
import { processorMsOf } from './processor-time.ts'
import { MAIN, type ServerProcess, startServer } from './server-process.ts'

/** What a request may cost beside what its bytes account for, on a machine that is not slowed down; twice that where other tests take the processor's caches meanwhile. */
const MAX_MS = PLAN.isFull ? 50 : 100
/** What a GiB of a body, or of an answer, may cost, by route; docs/operate/work-limits.md states them. */
const SECONDS_PER_GIB: Readonly<Record<string, number>> = {
  'post /api/upload': 20,
  'put /api/upload': 20,
  // Lists are JSON that is made for each answer.
  'get /api/deals': 120,
  'get /api/files': 120,
  // Each entry is a hundred bytes that make a link.
  'post /api/directories': 200,
}
const OTHER_SECONDS_PER_GIB = 5
const CAR_SECONDS_PER_GIB = 164
/** What a CAR may cost beside its bytes, where one block has tens of thousands of links. */
const MAX_CAR_MS = 4 * MAX_MS
const GIB = 1024 ** 3
/** How often a cost above the limit is measured: it counts what others do meanwhile, too. */
const MOST_MEASUREMENTS = 3
/** What is above the limit by far is not asked so often. */
const MOST_MS = 3000

let address = 0
/** The next request comes from somewhere else, so that no budget stands in the way of its cost. */
const fromElsewhere = (): Record<string, string> => {
  address += 1
  return { 'X-Forwarded-For': `10.1.${address >> 8}.${address & 255}` }
}

/** Who has a token with the scope admin, which only the command line mints. */
function operatorOf({ dataDir }: ServerProcess): Caller {
  const mint = [MAIN, 'keys', 'mint', '--email', 'ops@example.org', '--scopes', 'admin', '--json']
  const minted = execFileSync(process.execPath, mint, { env: { LADE_DATA_DIR: dataDir }, encoding: 'utf8' })
  const { token, userId } = JSON.parse(minted) as { token: string; userId: string }
  return { principal: `user:${userId}`, headers: { Authorization: `Bearer ${token}` } }
}

const isCar = ({ headers }: CostlyRequest): boolean => headers?.['Content-Type'] === CAR_MEDIA_TYPE

/** What one request costs, beside the bytes that it moves. */
async function costOf({ url, pid }: ServerProcess, request: CostlyRequest): Promise<number> {
  const { route, path, headers, body, statuses } = request
  const method = route.split(' ')[0]?.toUpperCase() ?? ''
  const rate = isCar(request) ? CAR_SECONDS_PER_GIB : (SECONDS_PER_GIB[route] ?? OTHER_SECONDS_PER_GIB)
  const ask = async (): Promise<number> => {
    const sent = { headers: { ...headers, ...fromElsewhere() }, ...(body && { body }) }
    const answer = await send(url, method, path, sent).catch(() => undefined)
    if (answer !== undefined)
      expect(statuses, `${route}, ${request.what}: ${answer.body.subarray(0, 300)}`).toContain(answer.status)
    return (body?.length ?? 0) + (answer?.body.length ?? 0)
  }
  await ask()
  await ask()
  const before = processorMsOf(pid)
  let movedBytes = 0
  let times = 0
  const end = performance.now() + MOST_MS
  for (; times < PLAN.costlyRequests && performance.now() < end; times += 1) movedBytes += await ask()
  return (processorMsOf(pid) - before - (movedBytes / GIB) * rate * 1000) / times
}

test('no request but a CAR of many links costs more than 50 ms of processor time beside what its bytes account for', async () => {
  const server = await startServer({ env: { ...BOUNDLESS_QUOTAS, ...SITES_ENV, LADE_SPONSORED_FILE_MB: '1000000' } })
  const [anybody, user] = [sponsoredCaller('192.0.2.7'), await tokenCaller(server.url)]
  const requests = await costlyRequests(server.url, { anybody, user, operator: operatorOf(server) })
  const document = JSON.parse((await send(server.url, 'GET', '/openapi.json')).body.toString()) as {
    paths: Record<string, Record<string, unknown>>
  }
  const routes = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((key) => key !== 'parameters')
      .map((method) => `${method} ${path}`),
  )
  expect(routes.filter((route) => !requests.some((request) => request.route === route))).toEqual([])

  const costs: string[] = []
  const above: string[] = []
  for (const request of requests) {
    const maxMs = isCar(request) ? MAX_CAR_MS : MAX_MS
    let costMs = await costOf(server, request)
    let slowness = costMs <= maxMs ? 1 : processorSlowness()
    for (let times = 1; times < MOST_MEASUREMENTS && costMs > maxMs * slowness; times += 1) {
      costMs = Math.min(costMs, await costOf(server, request))
      slowness = Math.max(slowness, processorSlowness())
    }
    const line = `${request.route}, ${request.what}: ${costMs.toFixed(1)} ms`
    costs.push(line)
    if (PLAN.isFull) process.stderr.write(`${line}\n`)
    if (costMs > maxMs * slowness) above.push(`${line}, on a machine that is ${slowness.toFixed(1)} times as slow`)
  }
  expect(above, costs.join('\n')).toEqual([])
})
