import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type AuditChain, type AuditPage, addAuditLine, EMPTY_AUDIT_CHAIN } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'
import { rotateKeyFile } from '../../../tokens/key-file.ts'

describe('the audit log', () => {
  let service: RunningService
  let admin: string
  beforeAll(async () => {
    service = await runService()
    admin = await service.mint(['admin'])
  })
  afterAll(() => service.remove())

  const page = async (query = '', token = admin): Promise<AuditPage> =>
    (await (await service.fetch(`/api/admin/audit${query}`, { headers: bearer(token) })).json()) as AuditPage
  const exported = async (): Promise<string> =>
    (await service.fetch('/api/admin/audit.jsonl', { headers: bearer(admin) })).text()
  const verify = (text: string): AuditChain | string => {
    let chain: AuditChain | string = EMPTY_AUDIT_CHAIN
    for (const line of text.split('\n').slice(0, -1)) {
      if (typeof chain !== 'string') chain = addAuditLine(chain, line, (one) => sha256Hex(Buffer.from(one)))
    }
    return chain
  }

  it('tells of the key, of tokens and of who revoked them, and its export holds together', async () => {
    const jti = randomUUID()
    const ada = await service.mint(['list'], { jti, email: 'ada@example.org' })
    await service.fetch('/api/usage', { headers: bearer(ada) })
    await service.signUp('grace@example.org')
    const json = { 'content-type': 'application/json', ...bearer(admin) }
    await service.fetch('/api/tokens/revoke', { method: 'POST', headers: json, body: JSON.stringify({ jti }) })
    const { entries, nextCursor } = await page()
    expect(nextCursor).toBeNull()
    expect(entries.map(({ action }) => action)).toEqual([
      'token.revoked',
      'token.first_used',
      'token.made',
      'token.first_used',
      'key.used',
    ])
    expect(entries[0]).toMatchObject({ subject: `token:${jti}`, actor: entries[1]?.actor })
    const response = await service.fetch('/api/admin/audit.jsonl', { headers: bearer(admin) })
    expect(response.headers.get('content-type')).toBe('application/jsonl; charset=utf-8')
    expect(verify(await response.text())).toEqual({ entries: 5, head: entries[0]?.hash })
    expect(await exported()).not.toContain('@example.org')
  })

  it('is paged, and filtered by a part of a line', async () => {
    for (let index = 0; index < 5; index += 1) await service.signUp(`user${index}@example.org`)
    const all = (await page()).entries.map(({ sequence }) => sequence)
    const paged: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const found = await page(`?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      expect(found.entries.length).toBeLessThanOrEqual(2)
      paged.push(...found.entries.map(({ sequence }) => sequence))
      cursor = found.nextCursor
    }
    expect(paged).toEqual(all)
    expect((await page('?q=KEY.USED')).entries).toHaveLength(1)
    const refusals = await Promise.all(
      ['?limit=0', '?cursor=abc'].map((query) => service.fetch(`/api/admin/audit${query}`, { headers: bearer(admin) })),
    )
    expect(refusals.map(({ status }) => status)).toEqual([400, 400])
  })

  it('is for operators alone', async () => {
    const { token } = await service.signUp('mallory@example.org')
    for (const path of ['/api/admin/audit', '/api/admin/audit.jsonl']) {
      expect((await service.fetch(path)).status).toBe(401)
      expect((await service.fetch(path, { headers: bearer(token) })).status).toBe(403)
    }
  })

  it('tells of a rotation of the signing key', { timeout: 30_000 }, async () => {
    await rotateKeyFile({ file: join(service.dataDir, 'token.key'), now: new Date(), overlapDays: 1 })
    await vi.waitFor(async () => expect((await page('?q=key.used')).entries).toHaveLength(2), {
      timeout: 20_000,
      interval: 500,
    })
    const [latest, first] = (await page('?q=key.used')).entries
    expect(`key:${latest?.detail.replaces}`).toBe(first?.subject)
  })
})
