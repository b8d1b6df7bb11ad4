import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartError } from '@lade/node/settings'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { databaseFileOf, type RunningService, runService } from '../testing/running/running-service.ts'

/** Large enough for the blob store. */
const bytesOf = (seed: number): Buffer => Buffer.alloc(70_000, `file ${seed} `)

describe('records and objects of a service on one machine', () => {
  let dir: string
  let services: RunningService[]
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-joining-'))
    services = []
  })
  afterEach(async () => {
    for (const service of services) await service.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const start = async (env: Record<string, string> = {}): Promise<RunningService> => {
    const service = await runService({ dataDir: dir, env })
    services.push(service)
    return service
  }
  const refusal = async (env: Record<string, string> = {}): Promise<string> => {
    const error = await start(env).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(error).toBeInstanceOf(StartError)
    return (error as StartError).message
  }
  const used = async (files = 5): Promise<RunningService> => {
    const service = await start()
    for (let index = 0; index < files; index += 1) expect((await service.upload(bytesOf(index))).status).toBe(200)
    return service
  }
  /** Every name below the objects, so that a test can say that nothing came and nothing went. */
  const objects = (): string[] => readdirSync(join(dir, 'objects'), { recursive: true }).map(String).sort()

  it('have one id, which both keep over restarts', async () => {
    await (await used()).close()
    const document = () =>
      JSON.parse(readFileSync(join(dir, 'objects/installation.json'), 'utf8')) as { id: string; progress: number }
    const first = document()
    const again = await start()
    expect(document().id).toBe(first.id)
    expect(document().progress).toBeGreaterThan(first.progress)
    for (let index = 0; index < 5; index += 1) expect((await again.upload(bytesOf(index))).status).toBe(200)
  })

  it('error: a database that is missing beside objects is not made', async () => {
    await (await used()).close()
    for (const name of readdirSync(dir).filter((each) => each.startsWith('lade.db'))) {
      rmSync(join(dir, name), { recursive: true })
    }
    const before = objects()
    expect(await refusal()).toMatch(
      /^There is no database .*lade\.db, but .*objects contains files.*lade doctor --adopt/,
    )
    expect(objects()).toEqual(before)
    expect(readdirSync(dir).filter((name) => name.startsWith('lade.db'))).toEqual([])
  })

  it('error: the database of another installation is refused, and nothing of what it does not know is touched', async () => {
    const first = await used()
    // Another service has a folder of its own, and by mistake the objects of the first, which is running.
    const second = mkdtempSync(join(tmpdir(), 'lade-joining-other-'))
    const other = await runService({ dataDir: second })
    await other.close()
    renameSync(join(second, 'objects'), join(second, 'objects.own'))
    const storage = `file:${join(dir, 'objects')}`
    const pending = join(dir, 'objects/pending', 'an-upload-under-way')
    mkdirSync(pending)
    writeFileSync(join(pending, '0'), 'bytes')
    const before = objects()
    await expect(runService({ dataDir: second, env: { LADE_STORAGE: storage } })).rejects.toThrow(
      /belongs to installation/,
    )
    expect(objects()).toEqual(before)
    // One that never had objects of its own neither.
    rmSync(second, { recursive: true })
    await expect(runService({ dataDir: second, env: { LADE_STORAGE: storage } })).rejects.toThrow(
      /There is no database/,
    )
    expect(objects()).toEqual(before)
    rmSync(second, { recursive: true, force: true })
    expect((await first.fetch(`/readyz`)).status).toBe(200)
  })

  it('error: objects that are not there, as of a disk that is not mounted, are not begun again', async () => {
    await (await used()).close()
    renameSync(join(dir, 'objects'), join(dir, 'objects.away'))
    expect(await refusal()).toMatch(/lists files that are not in .*objects\. The disk may not be mounted/)
    expect(existsSync(join(dir, 'objects'))).toBe(false)
    mkdirSync(join(dir, 'objects'))
    mkdirSync(join(dir, 'objects/lost+found'))
    expect(await refusal()).toMatch(/The disk may not be mounted/)
    expect(objects()).toEqual(['lost+found'])
    rmSync(join(dir, 'objects'), { recursive: true })
    renameSync(join(dir, 'objects.away'), join(dir, 'objects'))
    await start()
  })

  it('error: objects that are not there are missed also when nothing but small files was uploaded', async () => {
    const service = await start()
    expect((await service.upload(Buffer.from('small'))).status).toBe(200)
    await service.close()
    rmSync(join(dir, 'objects'), { recursive: true })
    expect(await refusal()).toMatch(/The disk may not be mounted/)
  })

  it('error: records that went back are told by the objects', async () => {
    const service = await used()
    await service.close()
    const file = databaseFileOf(service.config)
    cpSync(file, `${file}.backup`)
    const later = await start()
    expect((await later.upload(bytesOf(77))).status).toBe(200)
    await later.close()
    cpSync(`${file}.backup`, file)
    const before = objects()
    expect(await refusal()).toMatch(
      /is older than the files .*: it has progress number \d+, the files have \d+\. Acknowledged changes are missing/,
    )
    expect(objects()).toEqual(before)
  })

  it('error: a document that was damaged is not taken for none', async () => {
    await (await used(1)).close()
    for (const text of ['', '{', '[]', '{"id":1,"progress":2}', '{"id":"x"}']) {
      writeFileSync(join(dir, 'objects/installation.json'), text)
      expect(await refusal()).toMatch(/installation\.json .* is invalid/)
      expect(readFileSync(join(dir, 'objects/installation.json'), 'utf8')).toBe(text)
    }
  })
})
