import type {
  AdminFileList,
  AdminJobs,
  AdminLimits,
  AdminOverview,
  AdminPrincipal,
  AdminPrincipalList,
  AdminUploadList,
} from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'
import { userIdOf } from '../../../tokens/email.ts'

const ADA = `user:${userIdOf('ada@example.org')}`
const GRACE = `user:${userIdOf('grace@example.org')}`
const OPS = `user:${userIdOf('ops@example.org')}`
const MB = 1_048_576

describe('what operators read', () => {
  let service: RunningService
  let admin: string
  let ada: string
  beforeAll(async () => {
    service = await runService()
    admin = await service.mint(['admin'])
    ada = (await service.signUp('ada@example.org')).token
    const { token: grace } = await service.signUp('grace@example.org')
    for (const text of ['one', 'three'])
      await service.upload(Buffer.from(text), { token: ada, headers: { 'x-filename': `${text}.txt` } })
    await service.upload(Buffer.from('one'), { token: grace, headers: { 'x-filename': 'mine.txt' } })
    await service.upload(Buffer.from('sponsored'))
  })
  afterAll(() => service.remove())

  const get = async <Result>(path: string): Promise<Result> => {
    const response = await service.fetch(`/api/admin/${path}`, { headers: bearer(admin) })
    expect(response.status, path).toBe(200)
    return (await response.json()) as Result
  }
  const setLimits = (principal: string, limits: object) =>
    service.fetch(`/api/admin/principals/${encodeURIComponent(principal)}/limits`, {
      method: 'PUT',
      body: JSON.stringify(limits),
      headers: { 'content-type': 'application/json', ...bearer(admin) },
    })

  it('sums what is stored, with its trend', async () => {
    const { stored, uploads, days } = await get<AdminOverview>('overview')
    expect(stored).toEqual({ bytes: 3 + 5 + 3 + 9, files: 4, principals: 3 })
    expect(uploads).toEqual({ running: 0, reservedBytes: 0 })
    expect(days.at(-1)).toMatchObject({ bytes: 20, files: 4, storedBytes: expect.any(Number) })
    expect(days.at(-2)).toMatchObject({ bytes: 0, files: 0, storedBytes: null })
  })

  it('lists callers, pages them, orders them by what they use, and finds them by a part or an email address', async () => {
    const { principals, nextCursor } = await get<AdminPrincipalList>('principals')
    expect(nextCursor).toBeNull()
    expect(principals.map(({ principal }) => principal)).toEqual(['ip:127.0.0.1', ADA, GRACE, OPS].sort())
    expect(principals.find(({ principal }) => principal === ADA)).toEqual({
      principal: ADA,
      email: 'ada@example.org',
      stored: { bytes: 8, files: 2 },
      today: { bytes: 8, files: 2 },
      lastUploadDay: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      lastSeenAt: expect.stringMatching(/Z$/),
      limits: { dailyBytes: null, storedBytes: null },
    })
    const names = async (query: string) =>
      (await get<AdminPrincipalList>(`principals?${query}`)).principals.map(({ principal }) => principal)
    expect(await names('order=stored')).toEqual(['ip:127.0.0.1', ADA, GRACE, OPS])
    expect(await names('q=IP:')).toEqual(['ip:127.0.0.1'])
    expect(await names('q=Grace@example.org')).toEqual([GRACE])
    const first = await get<AdminPrincipalList>('principals?limit=3')
    const second = await get<AdminPrincipalList>(`principals?limit=3&cursor=${first.nextCursor}`)
    expect([...first.principals, ...second.principals]).toHaveLength(4)
    expect(second.nextCursor).toBeNull()
  })

  it('shows one caller with its tokens, by any name that it has', async () => {
    for (const name of [ADA, 'ada@example.org', ' Ada@Example.org']) {
      const shown = await get<AdminPrincipal>(`principals/${encodeURIComponent(name)}`)
      expect(shown).toMatchObject({ principal: ADA, stored: { bytes: 8, files: 2 }, uploads: [] })
      expect(shown.tokens.map(({ label, scopes }) => [label, scopes])).toEqual([
        ['test', ['put', 'get', 'list', 'pin']],
      ])
      expect(shown.days.at(-1)).toMatchObject({ bytes: 8, files: 2 })
    }
    expect(await get<AdminPrincipal>('principals/127.0.0.1')).toMatchObject({ stored: { bytes: 9, files: 1 } })
    expect(await get<AdminPrincipal>(`principals/${encodeURIComponent('2001:db8:1:2::9')}`)).toMatchObject({
      principal: 'ip:2001:db8:1:2::/64',
      stored: { bytes: 0, files: 0 },
    })
    const wrong = await service.fetch('/api/admin/principals/nobody', { headers: bearer(admin) })
    expect([wrong.status, await wrong.json()]).toEqual([400, expect.objectContaining({ error: 'bad_request' })])
  })

  it('lists the files of anybody, of one caller, and by a part of name, cid or owner', async () => {
    const names = async (query: string) =>
      (await get<AdminFileList>(`files?${query}`)).files.map(({ filename }) => filename)
    expect(await names('')).toEqual([null, 'mine.txt', 'three.txt', 'one.txt'])
    expect(await names('principal=ada@example.org')).toEqual(['three.txt', 'one.txt'])
    expect(await names(`principal=${ADA}&q=THREE`)).toEqual(['three.txt'])
    expect(await names('q=grace@')).toEqual(['mine.txt'])
    expect(await names(`q=${sha256Hex(Buffer.from('sponsored')).slice(4, 30)}`)).toEqual([null])
    const [file] = (await get<AdminFileList>('files?q=mine')).files
    expect(file).toMatchObject({ principal: GRACE, owner: 'grace@example.org', size: 3, status: 'staged' })
    const paged: (string | null)[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: AdminFileList = await get(`files?limit=3${cursor && `&cursor=${cursor}`}`)
      paged.push(...page.files.map(({ filename }) => filename))
      cursor = page.nextCursor
    }
    expect(paged).toEqual([null, 'mine.txt', 'three.txt', 'one.txt'])
  })

  it('shows uploads in flight, and jobs', async () => {
    expect(await get<AdminUploadList>('uploads')).toEqual({ uploads: [] })
    const jobs = await get<AdminJobs>('jobs')
    expect(jobs.instances).toHaveLength(1)
    expect(jobs.provers).toContainEqual({ name: 'local', isConfigured: true, copies: expect.any(Object) })
    expect(jobs).toMatchObject({ findings: [], findingsCount: 0, removals: { orphans: 0 } })
  })

  it('sets limits of one caller, which hold at once, and takes them away', async () => {
    const usage = async () => (await service.fetch('/api/usage', { headers: bearer(ada) })).json()
    const set = await setLimits('ada@example.org', { dailyMb: 1, storedMb: 2 })
    expect([set.status, await set.json()]).toEqual([
      200,
      { principal: ADA, dailyBytes: MB, storedBytes: 2 * MB } satisfies AdminLimits,
    ])
    expect(await usage()).toMatchObject({ quotaBytes: MB, userQuotaBytes: MB, stored: { limitBytes: 2 * MB } })
    expect((await service.upload(Buffer.alloc(MB), { token: ada })).status).toBe(429)
    expect((await get<AdminPrincipal>(`principals/${ADA}`)).limits).toEqual({ dailyBytes: MB, storedBytes: 2 * MB })
    await setLimits(ADA, { storedMb: 0 })
    const refused = await service.upload(Buffer.from('four'), { token: ada })
    expect(await refused.json()).toMatchObject({ error: 'quota_exceeded', which: 'stored', used: 8, limit: 0 })
    expect(await (await setLimits(ADA, { dailyMb: null, storedMb: null })).json()).toMatchObject({ dailyBytes: null })
    expect((await service.upload(Buffer.from('four'), { token: ada })).status).toBe(200)
    const audit = await get<{ entries: { subject: string; actor: string }[] }>('audit?q=limits.set')
    expect(audit.entries.map(({ subject, actor }) => [subject, actor])).toEqual(Array(3).fill([ADA, OPS]))
  })

  it('refuses limits that are none, and changes nothing', async () => {
    for (const limits of [{}, { dailyMb: -1 }, { dailyMb: 1.5 }, { storedMb: '1' }, { stored: 1 }]) {
      expect((await setLimits(ADA, limits)).status, JSON.stringify(limits)).toBe(400)
    }
    expect((await setLimits('nobody', { dailyMb: 1 })).status).toBe(400)
    expect((await get<AdminPrincipal>(`principals/${ADA}`)).limits).toEqual({ dailyBytes: null, storedBytes: null })
  })

  it('is for operators alone, every one of it', async () => {
    const paths = ['overview', 'principals', `principals/${ADA}`, 'files', 'uploads', 'jobs', 'audit', 'audit.jsonl']
    for (const path of paths) {
      expect((await service.fetch(`/api/admin/${path}`)).status, path).toBe(401)
      expect((await service.fetch(`/api/admin/${path}`, { headers: bearer(ada) })).status, path).toBe(403)
    }
    const put = {
      method: 'PUT',
      body: '{"dailyMb":1}',
      headers: { 'content-type': 'application/json', ...bearer(ada) },
    }
    expect((await service.fetch(`/api/admin/principals/${ADA}/limits`, put)).status).toBe(403)
  })
})
