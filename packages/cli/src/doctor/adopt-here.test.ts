import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Lade, startLade } from '@lade/server'
import { readConfig } from '@lade/server/config'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from '../run.ts'
import { testTerminal } from '../testing-terminal.ts'

const FRAME_BYTES = 24 + 4096
const running: Lade[] = []
let dir = ''
let dataDir = ''

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lade-adopt-'))
  dataDir = join(dir, 'data')
})
afterEach(async () => {
  await stop()
  rmSync(dir, { recursive: true, force: true })
})

async function start(data = dataDir): Promise<Lade> {
  const env = { LADE_PORT: '0', LADE_DATA_DIR: data, LADE_LOG_LEVEL: 'silent', LADE_MIN_FREE_MB: '0' }
  const service = await startLade(readConfig({ env }))
  running.push(service)
  return service
}
async function stop(): Promise<void> {
  for (const service of running.splice(0)) await service.close()
}
async function doctor(...flags: string[]) {
  const { terminal, stdout, stderr } = testTerminal({ cwd: dir, homeDir: dir, env: {} })
  const exitCode = await run(['doctor', '--data-dir', dataDir, '--port', '0', ...flags], terminal)
  return { exitCode, stdout: stdout(), stderr: stderr() }
}
async function finding(): Promise<{ state: string; sentence: string }> {
  const { stdout } = await doctor('--json')
  return JSON.parse(stdout).findings.find(({ check }: { check: string }) => check === 'installation')
}
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
async function upload({ url }: Lade, text: string, sizeBytes = 100): Promise<string> {
  const bytes = Buffer.alloc(sizeBytes, text)
  const headers = { 'content-type': 'text/plain' }
  const response = await fetch(`${url}/api/upload?cid=${sha256(bytes)}`, { method: 'POST', headers, body: bytes })
  expect(response.status).toBe(200)
  return sha256(bytes)
}
async function statusOf({ url }: Lade, cid: string): Promise<number> {
  const response = await fetch(`${url}/p/${cid}`)
  // A body that is not read to its end keeps the service from ending.
  await response.arrayBuffer()
  return response.status
}
const objects = () => readdirSync(join(dataDir, 'objects'), { recursive: true }).map(String).sort()
const database = () => join(dataDir, 'lade.db')
const log = () => `${database()}-wal`

/** Leaves the data as a service leaves it that is killed after `work`. */
async function killedAfter(work: (service: Lade) => Promise<void>): Promise<void> {
  const live = join(dir, 'live')
  // Stopped once, so that the database itself has an id.
  await start(live)
  await stop()
  const service = await start(live)
  await work(service)
  cpSync(live, dataDir, { recursive: true })
  rmSync(join(dataDir, 'instances'), { recursive: true })
  await stop()
}
/** Until it was written beside the objects how far the records had come. */
const noted = (progress: number) =>
  expect
    .poll(() => JSON.parse(readFileSync(join(dir, 'live/objects/installation.json'), 'utf8')).progress, {
      timeout: 10_000,
    })
    .toBeGreaterThan(progress)

describe('a log that does not hold what was acknowledged', () => {
  const damages = {
    'is deleted': () => rmSync(log()),
    'is cut off in the middle': () => truncateSync(log(), Math.floor(statSync(log()).size / 2)),
    'has a flipped bit in its header': () => flip(20),
    'has a flipped bit in a frame': () => flip(32 + 2 * FRAME_BYTES + 500),
  }
  const flip = (at: number) => {
    const bytes = readFileSync(log())
    bytes[at] = (bytes[at] ?? 0) ^ 4
    writeFileSync(log(), bytes)
  }

  test.each(Object.entries(damages))(
    '%s: no start, nothing is changed, and adopting goes on with what is left',
    async (_, damage) => {
      let cid = ''
      await killedAfter(async (service) => {
        for (let index = 0; index < 8; index += 1) cid = await upload(service, `small ${index}`)
        await upload(service, 'large', 70_000)
        await noted(2)
      })
      damage()
      const before = objects()
      await expect(start()).rejects.toThrow(/older than the files|is damaged at byte/)
      expect(objects()).toEqual(before)
      expect(await finding()).toMatchObject({
        state: 'broken',
        sentence: expect.stringMatching(/older than the files|is damaged at byte/),
      })

      const looked = await doctor('--adopt')
      expect(looked).toMatchObject({
        exitCode: 1,
        stderr: 'Nothing was changed. To continue, run the command again with --yes.\n',
      })
      await expect(start()).rejects.toThrow(/older than the files|is damaged at byte/)
      expect(await doctor('--adopt', '--yes')).toMatchObject({ exitCode: 0, stderr: '' })
      const service = await start()
      expect([200, 404]).toContain(await statusOf(service, cid))
      expect(objects().filter((name) => name.length === 67)).toEqual(before.filter((name) => name.length === 67))
    },
  )

  test('ends between the claim of an object and its file: the object is kept as an orphan', async () => {
    let cid = ''
    await killedAfter(async (service) => {
      cid = await upload(service, 'large', 70_000)
      await noted(2)
    })
    cutWhere(() => {
      const records = new DatabaseSync(database())
      try {
        return records.prepare('SELECT 1 FROM reservations WHERE claimed_sha256 = ?').get(cid) !== undefined
      } finally {
        records.close()
      }
    })
    expect(await doctor('--adopt', '--yes')).toMatchObject({ exitCode: 0, stderr: '' })
    const kept = objects().filter((name) => name.length === 67)
    expect(kept).toHaveLength(1)
    expect(await statusOf(await start(), cid)).toBe(404)
    await stop()
    // A start has recovered what the killed one left.
    expect(objects().filter((name) => name.length === 67)).toEqual(kept)
    const again = await start()
    expect(await statusOf(again, await upload(again, 'large', 70_000))).toBe(200)
  })

  /** Cuts the log off behind its last transaction with which `isWanted` holds. */
  function cutWhere(isWanted: () => boolean): void {
    const [whole, main] = [readFileSync(log()), readFileSync(database())]
    for (let end = whole.length; end > 32; end -= FRAME_BYTES) {
      // What reads a log may write to the database.
      for (const name of readdirSync(dataDir)) if (name.startsWith('lade.db')) rmSync(join(dataDir, name))
      writeFileSync(database(), main)
      writeFileSync(log(), whole.subarray(0, end))
      const isCommit = whole.readUInt32BE(end - FRAME_BYTES + 4) !== 0
      if (!isCommit || !isWanted()) continue
      writeFileSync(database(), main)
      writeFileSync(log(), whole.subarray(0, end))
      return
    }
    throw new Error('The log has no such transaction.')
  }

  test('is whole after a kill: the service starts and has lost nothing', async () => {
    let cid = ''
    await killedAfter(async (service) => {
      cid = await upload(service, 'small')
    })
    expect(await statusOf(await start(), cid)).toBe(200)
  })
})

describe('lade doctor --adopt', () => {
  test('goes on without a database that was lost, and keeps every object', async () => {
    const service = await start()
    for (let index = 0; index < 3; index += 1) await upload(service, `file ${index}`, 70_000)
    await stop()
    renameSync(database(), `${database()}.lost`)
    const before = objects()
    expect(await finding()).toMatchObject({
      state: 'broken',
      sentence: expect.stringContaining('There is no database'),
    })
    const looked = await doctor('--adopt')
    expect(looked.exitCode).toBe(1)
    expect(looked.stdout).toContain('The database lists 0 of 3 stored files.')
    expect(looked.stdout).toContain(
      '3 stored files are not in the database. They are kept for 30 days and then removed',
    )
    expect(existsSync(database())).toBe(false)
    expect((await doctor('--adopt', '--yes')).exitCode).toBe(0)
    const again = await start()
    expect(await statusOf(again, sha256(Buffer.alloc(70_000, 'file 1')))).toBe(404)
    // The same bytes, uploaded again, are no orphan any more.
    expect(await statusOf(again, await upload(again, 'file 1', 70_000))).toBe(200)
    expect(objects()).toEqual(expect.arrayContaining(before.filter((name) => name.length === 67)))
    expect(await finding()).toMatchObject({ state: 'ok' })
  })

  test('takes the objects from another installation, which cannot use them any more', async () => {
    const service = await start()
    const cid = await upload(service, 'mine', 70_000)
    await upload(service, 'mine too', 70_000)
    await stop()
    const other = join(dir, 'other')
    await start(other)
    await stop()
    renameSync(join(dataDir, 'objects'), join(dir, 'objects'))
    rmSync(join(other, 'objects'), { recursive: true })
    renameSync(join(dir, 'objects'), join(other, 'objects'))
    const mine = dataDir
    dataDir = other
    expect(await finding()).toMatchObject({
      state: 'broken',
      sentence: expect.stringContaining('belongs to installation'),
    })
    expect((await doctor('--adopt', '--yes')).exitCode).toBe(0)
    expect(await statusOf(await start(), cid)).toBe(404)
    await stop()
    renameSync(join(other, 'objects'), join(mine, 'objects'))
    dataDir = mine
    await expect(start()).rejects.toThrow(/belongs to installation/)
  })

  test('refuses while a service runs, and changes nothing', async () => {
    await upload(await start(), 'file', 70_000)
    const document = readFileSync(join(dataDir, 'objects/installation.json'), 'utf8')
    const refused = await doctor('--adopt', '--yes')
    expect(refused).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('Stop every instance first.'),
    })
    expect(JSON.parse(readFileSync(join(dataDir, 'objects/installation.json'), 'utf8')).id).toBe(
      JSON.parse(document).id,
    )
    expect(await finding()).toMatchObject({ state: 'ok' })
  })

  test('says what is missing where the objects are not there, and makes no folder before somebody agrees', async () => {
    await upload(await start(), 'file', 70_000)
    await stop()
    rmSync(join(dataDir, 'objects'), { recursive: true })
    expect(await finding()).toMatchObject({
      state: 'broken',
      sentence: expect.stringContaining('The disk may not be mounted'),
    })
    const looked = await doctor('--adopt')
    expect(looked.stdout).toContain('1 file is in the database but not in the storage. It cannot be downloaded')
    expect(existsSync(join(dataDir, 'objects'))).toBe(false)
    expect((await doctor('--adopt', '--yes')).exitCode).toBe(0)
    await start()
  })
})
