import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type FakeS3, startFakeS3 } from '../testing/doubles/fake-s3/fake-s3.ts'
import { databaseFileOf, type RunningService, runService } from '../testing/running/running-service.ts'

/** Large enough for the blob store. */
const bytesOf = (seed: number): Buffer => Buffer.alloc(70_000, `file ${seed} `)

describe('records of a service and objects in a bucket', () => {
  let dir: string
  let s3: FakeS3
  let services: RunningService[]
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'lade-joining-s3-'))
    services = []
    s3 = await startFakeS3()
    vi.stubEnv('AWS_ACCESS_KEY_ID', s3.credentials.accessKeyId)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', s3.credentials.secretAccessKey)
  })
  afterEach(async () => {
    for (const service of services) await service.close()
    vi.unstubAllEnvs()
    await s3.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const start = async (name: string, prefix = 'lade'): Promise<RunningService> => {
    const storage = `s3://${s3.bucket}/${prefix}?endpoint=${s3.url}&region=${s3.region}`
    const service = await runService({ dataDir: join(dir, name), env: { LADE_STORAGE: storage } })
    services.push(service)
    return service
  }
  const stop = async (): Promise<void> => {
    for (const service of services.splice(0)) await service.close()
  }
  const used = async (): Promise<RunningService> => {
    const service = await start('first')
    for (const seed of [1, 2, 3]) expect((await service.upload(bytesOf(seed))).status).toBe(200)
    return service
  }
  const keys = () => [...s3.objects.keys()].sort()

  it('have one id, under the prefix', async () => {
    await used()
    expect(keys()).toContain('lade/installation.json')
    await stop()
    await start('first')
  })

  it('error: a service with a database of its own is refused, while the first one runs, and touches nothing', async () => {
    await used()
    const before = keys()
    await expect(start('second')).rejects.toThrow(/There is no database .* but the bucket .* contains files/)
    // One that has been used elsewhere.
    await (await start('third', 'elsewhere')).close()
    await expect(start('third')).rejects.toThrow(/belongs to installation/)
    expect(keys().filter((key) => key.startsWith('lade/'))).toEqual(before)
  })

  it('error: a prefix that holds nothing is not begun again', async () => {
    await used()
    await stop()
    await expect(start('first', 'wrong')).rejects.toThrow(/are not in the bucket .* below wrong/)
    expect(keys().filter((key) => key.startsWith('wrong'))).toEqual([])
  })

  it('error: a database that is missing, or that went back, is told by the bucket', async () => {
    const service = await used()
    await stop()
    const file = databaseFileOf(service.config)
    cpSync(file, join(dir, 'backup.db'))
    expect((await (await start('first')).upload(bytesOf(4))).status).toBe(200)
    await stop()
    const before = keys()
    cpSync(join(dir, 'backup.db'), file)
    await expect(start('first')).rejects.toThrow(/is older than the files/)
    for (const name of readdirSync(join(dir, 'first')).filter((each) => each.startsWith('lade.db'))) {
      rmSync(join(dir, 'first', name), { recursive: true })
    }
    await expect(start('first')).rejects.toThrow(/There is no database/)
    expect(keys()).toEqual(before)
  })
})
