import type { Caller } from './caller.ts'
import type { CostlyRequest } from './costly-request.ts'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const NOBODY = '00000000-0000-4000-8000-000000000000'

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}

/** Requests about sessions and claims, each the worst that is known of its route. */
export function costlySessionRequests(origin: URL, user: Caller, cid: string): CostlyRequest[] {
  const page = { Origin: origin.origin }
  return [
    {
      route: 'post /api/files/{cid}/claim',
      what: 'a wrong secret',
      path: `/api/files/${cid}/claim`,
      headers: { ...user.headers, ...JSON_TYPE },
      body: json({ secret: Buffer.alloc(64, 7).toString('base64url') }),
      statuses: [404],
    },
    {
      route: 'get /api/session',
      what: 'a cookie of nobody',
      path: '/api/session',
      headers: { ...page, Cookie: `lade-session=${Buffer.alloc(32, 7).toString('base64url')}` },
      statuses: [200],
    },
    {
      route: 'post /api/session',
      what: 'a token of every length',
      path: '/api/session',
      headers: { ...page, ...JSON_TYPE },
      body: json({ token: `pk_live_${'x'.repeat(60_000)}` }),
      statuses: [400, 401],
    },
    { route: 'delete /api/session', what: 'nobody', path: '/api/session', headers: page, statuses: [200] },
    { route: 'get /api/sessions', what: 'a user', path: '/api/sessions', headers: user.headers, statuses: [200] },
    {
      route: 'delete /api/sessions/{sessionId}',
      what: 'an unknown session',
      path: `/api/sessions/${NOBODY}`,
      headers: user.headers,
      statuses: [404],
    },
  ]
}

/** Requests of operators, each the worst that is known of its route. */
export function costlyAdminRequests(operator: Caller, unknownCid: string): CostlyRequest[] {
  const { headers } = operator
  const reads = ['overview', 'uploads', 'jobs', 'audit.jsonl', 'blocks', 'blocked-callers']
  const searches = ['principals?order=stored&q=zebra', 'files?q=zebra', 'audit?q=zebra']
  const changes = { ...headers, ...JSON_TYPE }
  return [
    ...[...reads, ...searches].map((path) => ({
      route: `get /api/admin/${path.split('?')[0]}`,
      what: path.includes('?') ? 'a search that finds nothing' : 'all',
      path: `/api/admin/${path}`,
      headers,
      statuses: [200],
    })),
    {
      route: 'get /api/admin/principals/{principal}',
      what: 'a caller that nobody knows',
      path: '/api/admin/principals/192.0.2.200',
      headers,
      statuses: [200],
    },
    {
      route: 'put /api/admin/principals/{principal}/limits',
      what: 'a limit that is none',
      path: '/api/admin/principals/192.0.2.200/limits',
      headers: changes,
      body: json({ dailyMb: -1 }),
      statuses: [400],
    },
    {
      route: 'post /api/admin/blocks',
      what: 'content that is not stored',
      path: '/api/admin/blocks',
      headers: changes,
      body: json({ cid: unknownCid, reason: 'A test.' }),
      statuses: [200],
    },
    {
      route: 'delete /api/admin/blocks/{cid}',
      what: 'content that is not blocked',
      path: `/api/admin/blocks/${'1'.repeat(64)}`,
      headers,
      statuses: [404],
    },
    {
      route: 'post /api/admin/blocked-callers',
      what: 'a network',
      path: '/api/admin/blocked-callers',
      headers: changes,
      body: json({ network: '198.51.100.0/24', reason: 'A test.', files: 'keep' }),
      statuses: [200],
    },
    {
      route: 'delete /api/admin/blocked-callers/{id}',
      what: 'an unknown block',
      path: '/api/admin/blocked-callers/999999',
      headers,
      statuses: [404],
    },
    {
      route: 'post /api/admin/personal-data/export',
      what: 'somebody who is not here',
      path: '/api/admin/personal-data/export',
      headers: changes,
      body: json({ caller: 'nobody@example.org' }),
      statuses: [200],
    },
    {
      route: 'post /api/admin/personal-data/erase',
      what: 'somebody who is not here',
      path: '/api/admin/personal-data/erase',
      headers: changes,
      body: json({ caller: 'nobody@example.org' }),
      statuses: [200],
    },
  ]
}
