import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newClaimSecret } from '../client.ts'
import { createClient } from '../create-client.ts'
import { type FakeService, startFakeService } from '../testing/fake-service.ts'
import { noise } from '../testing/noise.ts'
import { type OwnService, startOwnService } from '../testing/own-service.ts'

const MIB = 1_048_576
const LIMITS = { singleMaxBytes: 3 * MIB, partBytes: 2 * MIB }
const digestOf = (secret: string): string => createHash('sha256').update(Buffer.from(secret, 'base64url')).digest('hex')

describe('a put with a secret', () => {
  let service: FakeService
  let folder: string
  beforeEach(async () => {
    service = await startFakeService()
    folder = await mkdtemp(join(tmpdir(), 'lade-claim-'))
  })
  afterEach(async () => {
    await service.close()
    await rm(folder, { recursive: true, force: true })
  })
  const sent = () =>
    service.seen
      .filter(({ method }) => method === 'POST')
      .map(({ path, headers }) => [path, headers['x-claim-digest']] as const)

  it('sends its digest, with the whole and not with parts', async () => {
    const secret = newClaimSecret()
    expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const client = createClient({ url: service.url }, LIMITS)
    await client.put(noise(10), { claim: secret })
    await client.put(new Blob([noise(11)]).stream(), { claim: secret })
    const path = join(folder, 'big.bin')
    await writeFile(path, noise(4 * MIB))
    await client.put(path, { claim: secret })
    await client.put(noise(12))
    expect(sent()).toEqual([
      ['/api/upload', digestOf(secret)],
      ['/api/upload', digestOf(secret)],
      ['/api/upload', undefined],
      ['/api/upload', undefined],
      ['/api/compose', digestOf(secret)],
      ['/api/upload', undefined],
    ])
  })

  it.each([
    '',
    'short',
    'a'.repeat(21),
    'a'.repeat(22),
    'a'.repeat(25),
    `${'A'.repeat(22)}=`,
    'ä'.repeat(30),
    'A'.repeat(87),
  ])('refuses %j, which is none, before anything is sent', async (secret) => {
    const client = createClient({ url: service.url }, LIMITS)
    await expect(client.put(noise(10), { claim: secret })).rejects.toThrow(TypeError)
    await expect(client.files.claim('abcdefgh', { secret })).rejects.toThrow(TypeError)
    expect(service.seen).toEqual([])
  })
})

describe('files.claim', () => {
  let service: OwnService
  beforeAll(async () => {
    service = await startOwnService()
  })
  afterAll(() => service.remove())

  it('makes a file of nobody this caller’s, once', async () => {
    const secret = newClaimSecret()
    const { cid } = await createClient({ url: service.url }, LIMITS).put(noise(100), { claim: secret })
    const client = createClient({ url: service.url, token: await service.token() }, LIMITS)
    await expect(client.files.claim(cid, { secret: newClaimSecret() })).rejects.toMatchObject({ code: 'not_found' })
    expect(await client.files.claim(cid, { secret })).toMatchObject({ cid, sponsored: false, size: 100 })
    expect(await client.files.claim(cid, { secret })).toMatchObject({ cid, sponsored: false })
    expect((await client.usage()).today.bytes).toBe(100)
    const other = createClient({ url: service.url, token: await service.token() }, LIMITS)
    await expect(other.files.claim(cid, { secret })).rejects.toMatchObject({ code: 'not_found' })
  })
})
