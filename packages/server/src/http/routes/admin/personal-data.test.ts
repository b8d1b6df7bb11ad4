import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuditPage, PersonalDataErased, UploadResult } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patternBytes } from '../../../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'
import { userIdOf } from '../../../tokens/email.ts'

const EMAIL = 'ada@example.org'
const ADA = `user:${userIdOf(EMAIL)}`

describe('/api/admin/personal-data', () => {
  let service: RunningService
  let admin: string
  let ada: string
  let grace: string
  beforeAll(async () => {
    service = await runService({ env: { LADE_DISCARD_GRACE_HOURS: '24' } })
    admin = await service.mint(['admin'])
    ada = (await service.signUp(EMAIL)).token
    grace = (await service.signUp('grace@example.org')).token
  })
  afterAll(() => service.remove())

  const post = (path: string, caller: string, as = admin) =>
    service.fetch(`/api/admin/personal-data/${path}`, {
      method: 'POST',
      body: JSON.stringify({ caller }),
      headers: { 'content-type': 'application/json', ...bearer(as) },
    })
  const exported = async (caller: string): Promise<Record<string, unknown>[]> => {
    const response = await post('export', caller)
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
    return (await response.text())
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  }
  const uploaded = async (bytes: Uint8Array, token: string, headers: Record<string, string>) => {
    const response = await service.upload(bytes, { token, headers })
    return (await response.json()) as UploadResult
  }
  const storedDigests = async () => {
    const folders = await readdir(join(service.dataDir, 'objects'), { withFileTypes: true, recursive: true })
    return folders.filter((one) => /^[0-9a-f]{64}$/.test(one.name)).map(({ name }) => name)
  }

  it('tells everything, then erases it: files, bytes, tokens and names, and nothing of anybody else', async () => {
    const own = patternBytes(200_000, 201)
    const shared = patternBytes(200_000, 202)
    const removed = patternBytes(200_000, 203)
    await uploaded(own, ada, { 'x-filename': 'own.txt', 'content-type': 'text/x-ada', 'x-visibility': 'private' })
    await uploaded(shared, ada, { 'x-filename': 'shared.txt' })
    await uploaded(shared, grace, { 'x-filename': 'hers.txt' })
    await uploaded(removed, ada, { 'x-filename': 'removed.txt' })
    await service.fetch(`/api/files/${sha256Hex(removed)}`, { method: 'DELETE', headers: bearer(ada) })
    const share = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(ada) },
      body: '{"ttlSeconds":60}',
    }
    const { url } = (await (await service.fetch(`/api/files/${sha256Hex(own)}/share`, share)).json()) as { url: string }

    const before = await exported(EMAIL)
    const kinds = before.map(({ kind }) => kind)
    expect(new Set(kinds)).toEqual(new Set(['caller', 'token', 'usage', 'file', 'audit']))
    const names = before.filter(({ kind }) => kind === 'file').map(({ filename }) => filename)
    expect(names).toEqual(['removed.txt', 'shared.txt', 'own.txt'])
    expect(before.find(({ kind }) => kind === 'token')).toMatchObject({
      email: EMAIL,
      issuedAt: expect.stringMatching(/Z$/),
    })
    expect(JSON.stringify(before)).not.toContain('grace')

    const erased = (await (await post('erase', EMAIL)).json()) as PersonalDataErased
    expect(erased).toMatchObject({ principal: ADA, files: 3, ended: 2, tokens: 1, sessions: 0 })
    expect(erased.kept.length).toBeGreaterThan(3)

    const listed = await service.fetch('/api/files', { headers: bearer(ada) })
    expect(listed.status).toBe(401)
    expect((await service.fetch(new URL(url).pathname + new URL(url).search)).status).toBe(403)
    expect((await service.fetch(`/p/${sha256Hex(own)}`)).status).toBe(404)
    expect((await service.fetch(`/p/${sha256Hex(shared)}`)).status).toBe(200)
    expect(await storedDigests()).toEqual([sha256Hex(shared)])

    const after = await exported(ADA)
    expect(after.filter(({ kind }) => kind === 'file')).toHaveLength(3)
    const left = JSON.stringify(after)
    for (const gone of [EMAIL, 'own.txt', 'shared.txt', 'removed.txt', 'text/x-ada']) expect(left).not.toContain(gone)

    const audit = await service.fetch('/api/admin/audit', { headers: bearer(admin) })
    const { entries } = (await audit.json()) as AuditPage
    expect(entries.map(({ action }) => action)).toContain('caller.erased')
    expect(entries.map(({ action }) => action)).toContain('caller.exported')
    expect(JSON.stringify(entries)).not.toContain(EMAIL)
  })

  it('can be repeated, and lets the person begin again', async () => {
    expect(await (await post('erase', EMAIL)).json()).toMatchObject({ files: 0, ended: 0, tokens: 0 })
    // A token counts as issued at the beginning of its second.
    const statusOfNew = async () => {
      const { token } = await service.signUp(EMAIL)
      return (await service.fetch('/api/files', { headers: bearer(token) })).status
    }
    await expect.poll(statusOfNew, { interval: 200, timeout: 5000 }).toBe(200)
  })

  it('erases what an IP address has uploaded', async () => {
    await service.upload(patternBytes(100, 204), { headers: { 'x-filename': 'anonymous.txt' } })
    expect(await exported('127.0.0.1')).toMatchObject([
      { kind: 'caller' },
      { kind: 'usage' },
      { filename: 'anonymous.txt' },
    ])
    expect(await (await post('erase', '127.0.0.1')).json()).toMatchObject({
      principal: 'ip:127.0.0.1',
      files: 1,
      ended: 1,
    })
  })

  it.each([
    ['somebody', 400, 'bad_request'],
    ['a@b', 400, 'invalid_email'],
    ['', 400, 'bad_request'],
  ])('error: %j is no caller', async (caller, status, error) => {
    for (const path of ['export', 'erase']) {
      const response = await post(path, caller)
      expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([status, error])
    }
  })

  it('error: is for operators alone', async () => {
    for (const path of ['export', 'erase']) expect((await post(path, EMAIL, grace)).status).toBe(403)
  })
})
