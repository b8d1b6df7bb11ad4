import { randomBytes } from 'node:crypto'
import { open, readdir, readFile, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Hex } from '@lade/node/hashing/sha256'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFakeProver } from '../../../proving/fake-prover.ts'
import { databaseFileOf, type RunningService, runService } from '../../../testing/running/running-service.ts'

describe('/p/{cid} of bytes that changed on the disk', () => {
  let dir: string
  let service: RunningService
  beforeAll(async () => {
    // One that answers would have the bytes read, and the damage found, before the readers of these tests.
    const prover = openFakeProver()
    prover.script.isUnreachable = true
    service = await runService({
      env: { LADE_SPONSORED_DAILY_MB: '1000', LADE_METRICS_TOKEN: 'metrics-of-this-test', LADE_STAGE: 'async' },
      substitutes: { provers: [prover] },
    })
    dir = join(service.dataDir, 'objects')
  })
  afterAll(() => service.remove())

  const pathOf = (sha256: string) => join(dir, sha256.slice(0, 2), sha256)
  const read = async (cid: string) => {
    const response = await service.fetch(`/p/${cid}`)
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  /** Changes one bit of a blob, later than the tick of the kernel's clock in which it was written. */
  const damageAt = async (sha256: string, at: number) => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    const file = await open(pathOf(sha256), 'r+')
    const byte = new Uint8Array(1)
    await file.read(byte, 0, 1, at)
    await file.write(Uint8Array.of((byte[0] ?? 0) ^ 1), 0, 1, at)
    await file.close()
  }
  /** What is in quarantine of a blob, as soon as there is something. */
  const putAway = async (sha256: string): Promise<string[]> => {
    const away = async () =>
      (await readdir(join(dir, 'quarantine')).catch(() => [])).filter((name) => name.startsWith(sha256))
    await expect.poll(away).not.toEqual([])
    return away()
  }
  const headOf = (cid: string) => service.fetch(`/p/${cid}`, { method: 'HEAD' }).then(({ status }) => status)
  const metric = async (name: string) => {
    const response = await service.fetch('/metrics', { headers: { authorization: 'Bearer metrics-of-this-test' } })
    const line = (await response.text()).split('\n').find((each) => each.startsWith(`${name} `))
    return Number(line?.split(' ')[1])
  }

  it.each([
    ['in its last byte', 2_000_000, 1_999_999],
    ['in its first byte', 2_000_000, 0],
    ['in a blob of one chunk', 100_000, 50_000],
  ])(
    'is never a whole answer when they are wrong %s, and is right again after the next upload',
    async (_, size, at) => {
      const bytes = randomBytes(size)
      const sha256 = sha256Hex(bytes)
      expect((await service.upload(bytes)).status).toBe(200)
      expect(await read(sha256)).toMatchObject({ status: 200, bytes })
      await damageAt(sha256, at)

      if (at < 1_048_576) expect((await read(sha256)).status).toBe(503)
      else await expect(read(sha256)).rejects.toThrow()
      const names = await putAway(sha256)
      expect(names).toHaveLength(1)
      expect(sha256Hex(await readFile(join(dir, 'quarantine', names[0] ?? '')))).not.toBe(sha256)
      const gone = await read(sha256)
      expect(gone.status).toBe(503)
      expect(JSON.parse(gone.bytes.toString())).toMatchObject({ error: 'storage_failed' })
      expect(Number(gone.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await headOf(sha256)).toBe(503)

      const { token } = await service.signUp('grace@example.org')
      expect((await service.upload(bytes, { token })).status).toBe(200)
      expect(await read(sha256)).toMatchObject({ status: 200, bytes })
      expect(await headOf(sha256)).toBe(200)
    },
  )

  it('is no part of an answer to a range, and other ranges are right', async () => {
    const bytes = randomBytes(3_000_000)
    const sha256 = sha256Hex(bytes)
    await service.upload(bytes)
    await damageAt(sha256, 1_500_000)
    const range = async (from: number, to: number) => {
      const response = await service.fetch(`/p/${sha256}`, { headers: { range: `bytes=${from}-${to}` } })
      return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
    }
    expect(await range(10, 999)).toEqual({ status: 206, bytes: bytes.subarray(10, 1000) })
    expect((await range(1_100_000, 1_100_001)).status).toBe(503)
    await putAway(sha256)
    expect((await range(10, 999)).status).toBe(503)
  })

  it('is 503 for small files in the records, which the next upload repairs, a free retry, too', async () => {
    const { token } = await service.signUp('ada@example.org')
    const [one, other] = [randomBytes(3000), randomBytes(40_000)]
    for (const bytes of [one, other]) expect((await service.upload(bytes, { token })).status).toBe(200)
    const before = await metric('lade_damaged_objects')
    const database = new Database(databaseFileOf(service.config))
    for (const bytes of [one, other]) {
      const wrong = Uint8Array.from(bytes)
      wrong[1234] = (wrong[1234] ?? 0) ^ 8
      database.prepare('UPDATE objects SET inline = ? WHERE sha256 = ?').run(wrong, sha256Hex(bytes))
    }
    database.close()
    for (const bytes of [one, other]) {
      const sha256 = sha256Hex(bytes)
      expect(await headOf(sha256)).toBe(503)
      expect((await read(sha256)).status).toBe(503)
      expect((await service.fetch(`/p/${sha256}`, { headers: { range: 'bytes=0-9' } })).status).toBe(503)
    }
    await expect.poll(() => metric('lade_damaged_objects')).toBe(before + 2)
    expect((await service.upload(one, { token })).status).toBe(200)
    const { token: others } = await service.signUp('grace@example.org')
    expect((await service.upload(other, { token: others })).status).toBe(200)
    for (const bytes of [one, other]) {
      expect(await read(sha256Hex(bytes))).toMatchObject({ status: 200, bytes })
      expect(await headOf(sha256Hex(bytes))).toBe(200)
    }
    expect(await metric('lade_damaged_objects')).toBe(before)
  })

  it('is 503 for HEAD when a blob is missing or has another size, and it is counted at once', async () => {
    const [gone, short] = [randomBytes(1_500_000), randomBytes(1_500_000)]
    for (const bytes of [gone, short]) await service.upload(bytes)
    const count = () => metric('lade_blob_damage_total{kind="missing"}')
    const before = await count()
    await rm(pathOf(sha256Hex(gone)))
    await truncate(pathOf(sha256Hex(short)), 1000)
    expect(await headOf(sha256Hex(gone))).toBe(503)
    expect(await headOf(sha256Hex(short))).toBe(503)
    await expect.poll(count).toBe(before + 2)
    for (const bytes of [gone, short]) {
      await service.upload(bytes)
      expect(await headOf(sha256Hex(bytes))).toBe(200)
    }
  })
})
