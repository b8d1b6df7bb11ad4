import type {
  AdminPrincipal,
  AdminPrincipalList,
  BlockedCallerEntry,
  BlockedCallerList,
  FileList,
} from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const REASON = 'Spam in every file'

describe('/api/admin/blocked-callers', () => {
  let service: RunningService
  let admin: string
  let files = 0
  beforeAll(async () => {
    service = await runService({ env: { LADE_TRUSTED_PROXIES: '127.0.0.1' } })
    admin = await service.mint(['admin'])
  })
  afterAll(() => service.remove())
  afterEach(async () => {
    for (const { id } of (await listed()).callers) await send('DELETE', `/api/admin/blocked-callers/${id}`)
  })

  const send = (method: string, path: string, json?: object, as = admin): Promise<Response> =>
    service.fetch(path, {
      method,
      headers: { ...(json !== undefined && { 'content-type': 'application/json' }), ...bearer(as) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    })
  const block = async (request: object): Promise<BlockedCallerEntry> => {
    const response = await send('POST', '/api/admin/blocked-callers', { reason: REASON, files: 'keep', ...request })
    const body = await response.text()
    if (response.status !== 200) throw new Error(body)
    return JSON.parse(body) as BlockedCallerEntry
  }
  const listed = async (): Promise<BlockedCallerList> =>
    (await (await send('GET', '/api/admin/blocked-callers')).json()) as BlockedCallerList
  const answerOf = async (response: Response) => {
    const body = await response.text()
    return response.ok ? [response.status] : [response.status, (JSON.parse(body) as { error: string }).error]
  }
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const upload = (address: string, token?: string) => {
    files += 1
    return service.upload(Buffer.from(`file ${files}`), { headers: { ...from(address), ...bearer(token) } })
  }

  it('refuses a user by email or principal with its tokens, on every endpoint, and signs nobody up for it', async () => {
    const { token, userId } = await service.signUp('spam@example.org')
    await upload('192.0.2.1', token)
    for (const request of [{ email: ' Spam@example.org' }, { principal: `user:${userId}` }]) {
      const caller = await block(request)
      expect(caller).toMatchObject({
        kind: 'user',
        value: `user:${userId}`,
        reason: REASON,
        files: 'keep',
        removing: false,
      })
      for (const response of [
        await upload('192.0.2.1', token),
        await send('GET', '/api/files', undefined, token),
        await send('GET', `/p/${sha256Hex(Buffer.from(`file ${files - 1}`))}`, undefined, token),
        await send('POST', '/api/auth/signup', { email: 'spam@example.org', label: 'x' }, token),
        await service.fetch('/api/auth/signup', {
          method: 'POST',
          body: JSON.stringify({ email: 'spam@example.org', label: 'x' }),
          headers: { 'content-type': 'application/json' },
        }),
      ]) {
        expect(response.status).toBe(403)
        expect(await response.json()).toMatchObject({ error: 'caller_blocked', caller: 'user', reason: REASON })
      }
      await send('DELETE', `/api/admin/blocked-callers/${caller.id}`)
      expect(await answerOf(await upload('192.0.2.1', token))).toEqual([200])
    }
  })

  it('says of a caller, alone and in the list, that it is blocked', async () => {
    const { userId } = await service.signUp('watched@example.org')
    await upload('192.0.2.200')
    const shown = async (principal: string) =>
      (await (await send('GET', `/api/admin/principals/${principal}`)).json()) as AdminPrincipal
    expect(await shown(`user:${userId}`)).not.toHaveProperty('blocked')
    const { id, blockedAt } = await block({ email: 'watched@example.org' })
    await block({ network: '192.0.2.192/26', reason: 'Scraping' })
    expect((await shown(`user:${userId}`)).blocked).toEqual({ reason: REASON, blockedAt })
    expect((await shown('192.0.2.200')).blocked).toMatchObject({ reason: 'Scraping' })
    expect((await shown('192.0.2.201')).blocked).toMatchObject({ reason: 'Scraping' })
    const { principals } = (await (await send('GET', '/api/admin/principals')).json()) as AdminPrincipalList
    const blocked = principals.flatMap((one) =>
      one.blocked === undefined ? [] : [[one.principal, one.blocked.reason]],
    )
    expect(Object.fromEntries(blocked)).toEqual({ [`user:${userId}`]: REASON, 'ip:192.0.2.200': 'Scraping' })
    await send('DELETE', `/api/admin/blocked-callers/${id}`)
    expect(await shown(`user:${userId}`)).not.toHaveProperty('blocked')
  })

  it('refuses addresses and networks, whatever they ask for, also what is answered from memory', async () => {
    const bytes = Buffer.from('hot for everybody')
    await service.upload(bytes, { headers: from('198.51.100.1') })
    const get = (address: string) => service.fetch(`/p/${sha256Hex(bytes)}`, { headers: from(address) })
    for (let round = 0; round < 3; round += 1) expect((await get('192.0.2.77')).status).toBe(200)
    await block({ network: '192.0.2.65/26' })
    await block({ address: '2001:DB8:0::7' })
    expect((await listed()).callers.map(({ value }) => value)).toEqual(['2001:db8::7/128', '192.0.2.64/26'])
    for (const address of ['192.0.2.77', '192.0.2.64', '::ffff:192.0.2.127', '2001:db8::7']) {
      expect(await answerOf(await get(address)), address).toEqual([403, 'caller_blocked'])
      expect(await answerOf(await upload(address)), address).toEqual([403, 'caller_blocked'])
    }
    for (const address of ['192.0.2.128', '192.0.2.63', '2001:db8::8']) {
      expect((await get(address)).status, address).toBe(200)
      expect(await answerOf(await upload(address)), address).toEqual([200])
    }
    for (const path of ['/healthz', '/readyz']) {
      expect((await service.fetch(path, { headers: from('192.0.2.77') })).status).toBe(200)
    }
    const asAdmin = { ...from('192.0.2.77'), ...bearer(admin) }
    expect((await service.fetch('/api/admin/blocked-callers', { headers: asAdmin })).status).toBe(200)
  })

  it('removes the files where that is asked for, and keeps them otherwise', async () => {
    const { token } = await service.signUp('ada@example.org')
    const live = async () => ((await (await send('GET', '/api/files', undefined, token)).json()) as FileList).count
    for (let count = 0; count < 3; count += 1) await upload('192.0.2.9', token)
    expect(await live()).toBe(3)
    const kept = await block({ email: 'ada@example.org' })
    await send('DELETE', `/api/admin/blocked-callers/${kept.id}`)
    expect(await live()).toBe(3)
    const { id, removing } = await block({ email: 'ada@example.org', files: 'remove' })
    expect(removing).toBe(true)
    await send('DELETE', `/api/admin/blocked-callers/${id}`)
    expect(await live()).toBe(0)
  })

  it('removes the sponsored files of a network, and of nobody else', async () => {
    const addresses = ['203.0.113.5', '203.0.113.200', '203.0.114.5', '2001:db8:5:6::1']
    const cids: string[] = []
    for (const address of addresses) {
      expect(await answerOf(await upload(address))).toEqual([200])
      cids.push(sha256Hex(Buffer.from(`file ${files}`)))
    }
    await block({ network: '203.0.113.0/24', files: 'remove' })
    await block({ network: '2001:db8:5::/48', files: 'remove' })
    const statuses = await Promise.all(cids.map(async (cid) => (await service.fetch(`/p/${cid}`)).status))
    expect(statuses).toEqual([410, 410, 200, 410])
  })

  it.each([
    {},
    { email: 'a@example.org', network: '192.0.2.0/24' },
    { address: '192.0.2.0/24' },
    { address: '0x12' },
    { network: '0.0.0.0/0' },
    { network: '10.0.0.0/7' },
    { network: '::/0' },
    { network: '192.0.2.0/33' },
    { network: 'example.org' },
    { principal: 'ada' },
    { address: '2001:db8::7', files: 'remove' },
    { email: 'ops@example.org' },
    { email: 'x@example.org', reason: '' },
    { email: 'x@example.org', files: 'all' },
  ])('error: %j is bad_request', async (request) => {
    const response = await send('POST', '/api/admin/blocked-callers', { reason: REASON, files: 'keep', ...request })
    expect(await answerOf(response)).toEqual([400, 'bad_request'])
    expect((await listed()).callers).toEqual([])
  })

  it('error: an email that is none, a number that is not there, no scope', async () => {
    const request = { email: 'nobody', reason: REASON, files: 'keep' }
    expect(await answerOf(await send('POST', '/api/admin/blocked-callers', request))).toEqual([400, 'invalid_email'])
    expect(await answerOf(await send('DELETE', '/api/admin/blocked-callers/99'))).toEqual([404, 'not_found'])
    expect(await answerOf(await send('DELETE', '/api/admin/blocked-callers/x'))).toEqual([400, 'bad_request'])
    const { token } = await service.signUp('grace@example.org')
    expect(await answerOf(await send('GET', '/api/admin/blocked-callers', undefined, token))).toEqual([
      403,
      'insufficient_scope',
    ])
  })
})
