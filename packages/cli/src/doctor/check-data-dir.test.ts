import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkDataDir } from './check-data-dir.ts'
import { fileSystemKind } from './file-systems.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lade-doctor-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const check = async (dataDir: string, minFreeBytes = 0) => {
  const findings = await checkDataDir({ dataDir, minFreeBytes }, { platform: 'linux' })
  return Object.fromEntries(findings.map((finding) => [finding.check, finding]))
}

describe('checkDataDir', () => {
  it('tries writing and fsync, and leaves nothing behind', async () => {
    const { data, fsync, room } = await check(dir)
    expect([data?.state, fsync?.state, room?.state]).toEqual(['ok', 'ok', 'ok'])
    expect(fsync?.sentence).toMatch(/^fsync works there and took \d+\.\d ms\.$/)
    expect(await readdir(dir)).toEqual([])
  })

  it('finds too little room', async () => {
    const { room } = await check(dir, Number.MAX_SAFE_INTEGER)
    expect(room).toMatchObject({ state: 'broken', sentence: expect.stringContaining('Uploads are refused') })
  })

  it('does not mind that there is none yet', async () => {
    const { data } = await check(join(dir, 'none'))
    expect(data).toMatchObject({ state: 'unknown', sentence: expect.stringContaining('"lade serve" creates it') })
    expect(await readdir(dir)).toEqual([])
  })

  it('finds a file in its place', async () => {
    await writeFile(join(dir, 'data'), '')
    expect((await check(join(dir, 'data'))).data?.state).toBe('broken')
    expect((await check(join(dir, 'data', 'below'))).data?.state).toBe('broken')
  })

  // Root may write anywhere but here.
  const options = { meta: { skippedBecause: 'it needs Linux' } }
  it.runIf(process.platform === 'linux')('finds a directory that cannot be written', options, async () => {
    expect((await check('/proc')).data).toMatchObject({
      sentence: expect.stringContaining('is not writable by this user'),
    })
  })
})

describe('fileSystemKind', () => {
  it.each([
    [0xef53, 'ext4', undefined],
    [-1_859_950_530, 'btrfs', undefined],
    [0x01021994, 'tmpfs', 'which is lost when the machine restarts'],
    [0x6969, 'NFS', 'where locks and fsync may not work as SQLite needs'],
    [0x4d44, 'FAT', 'which does not survive power cuts'],
    [42, undefined, undefined],
  ])('knows %i as %s', (type, name, concern) => {
    expect(fileSystemKind(type, 'linux')).toEqual({ name, concern })
  })

  it('knows the numbers of Linux only', () => {
    expect(fileSystemKind(0xef53, 'darwin').name).toBeUndefined()
  })
})
