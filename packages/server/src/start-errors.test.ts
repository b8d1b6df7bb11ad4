import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartError } from '@lade/node/settings'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from './config/config.ts'
import { startLade } from './main.ts'
import { startReason } from './wiring/start-reason.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lade-start-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const failureOf = (env: Record<string, string>): Promise<unknown> =>
  startLade(readConfig({ env: { LADE_DATA_DIR: dir, LADE_PORT: '0', LADE_LOG_LEVEL: 'silent', ...env } })).then(
    async (lade) => void (await lade.close()),
    (error: unknown) => error,
  )

test('a port that is taken is a sentence that names the settings', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  const failure = await failureOf({ LADE_PORT: String(port) })
  taken.close()
  expect(failure).toBeInstanceOf(StartError)
  expect(failure).toMatchObject({
    message: `Lade cannot listen on 127.0.0.1:${port} (LADE_HOST and LADE_PORT): another program uses this address.`,
  })
})

test('a file in the place of the data directory is told so', async () => {
  const file = join(dir, 'file')
  await writeFile(file, '')
  expect(await failureOf({ LADE_DATA_DIR: file })).toMatchObject({
    message: `Lade cannot use the data directory ${file} (LADE_DATA_DIR): a part of the path is not a folder.`,
  })
})

test.each([
  [{ code: '28P01' }, 'the user name or the password in LADE_DATABASE is wrong'],
  [{ code: '3D000' }, 'there is no database of this name; create it, or correct LADE_DATABASE'],
  [{ code: 'NoSuchBucket' }, 'there is no bucket of this name; create it, or correct LADE_STORAGE'],
  [{ code: 'RegionMissing' }, 'there is no region; add ?region=NAME to LADE_STORAGE, or set AWS_REGION'],
  [{ code: 'ECONNREFUSED', syscall: 'connect' }, 'nothing listens there'],
  [{ code: 'EODD' }, 'said by a library'],
])('what a database or a store answers to wrong settings is said in our words: %j', (facts, sentence) => {
  const cause = Object.assign(new Error('said by a library'), facts)
  expect(startReason(new Error('outer', { cause }))).toBe(sentence)
})
