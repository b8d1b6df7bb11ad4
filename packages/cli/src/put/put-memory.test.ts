import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testTerminal } from '../testing-terminal.ts'
import type { LocalFile } from './collect-files.ts'
import { PutMemory } from './put-memory.ts'

const LARGE = 200_000_000

let homeDir = ''
beforeEach(async () => {
  homeDir = await mkdtemp(join(tmpdir(), 'lade-memory-'))
})
afterEach(() => rm(homeDir, { recursive: true, force: true }))

const memory = () => new PutMemory(testTerminal({ homeDir }).terminal)
const folder = () => join(homeDir, '.cache/lade/puts')
const fileOf = (change: Partial<LocalFile> = {}): LocalFile => ({
  path: '/a',
  shown: 'a',
  name: 'a',
  sizeBytes: LARGE,
  version: '1',
  ...change,
})

describe('PutMemory', () => {
  it('remembers a large file until it is put', async () => {
    await (await memory().stateOf(fileOf(), 'unixfs'))?.save('half')
    const again = await memory().stateOf(fileOf(), 'unixfs')
    expect(await again?.load()).toBe('half')
    await again?.clear()
    expect(await readdir(folder())).toEqual([])
  })

  it.each([
    ['another file', fileOf({ path: '/b' }), 'unixfs'],
    ['one that was changed', fileOf({ version: '2' }), 'unixfs'],
    ['another kind of id', fileOf(), 'piece'],
  ])('knows nothing of %s', async (_, file, purpose) => {
    await (await memory().stateOf(fileOf(), 'unixfs'))?.save('half')
    expect(await (await memory().stateOf(file, purpose))?.load()).toBeUndefined()
  })

  it('takes no note of small files', async () => {
    expect(await memory().stateOf(fileOf({ sizeBytes: 1000 }), 'unixfs')).toBeUndefined()
    expect(await readdir(homeDir)).toEqual([])
  })

  it('remembers a folder by its path and the account', async () => {
    await (await memory().folderState('/site', 'me'))?.save('ids')
    expect(await (await memory().folderState('/site', 'me'))?.load()).toBe('ids')
    expect(await (await memory().folderState('/site', 'you'))?.load()).toBeUndefined()
    expect(await (await memory().folderState('/other', 'me'))?.load()).toBeUndefined()
  })

  it('forgets after a month', async () => {
    await (await memory().stateOf(fileOf(), 'unixfs'))?.save('half')
    const [name = ''] = await readdir(folder())
    const old = new Date(Date.now() - 31 * 86_400_000)
    await utimes(join(folder(), name), old, old)
    expect(await (await memory().stateOf(fileOf(), 'unixfs'))?.load()).toBeUndefined()
  })

  it('does without where it has no place, and where that goes away', async () => {
    const state = await memory().stateOf(fileOf(), 'unixfs')
    await rm(folder(), { recursive: true })
    await writeFile(folder(), 'in the way')
    await expect(state?.save('half')).resolves.toBeUndefined()
    expect(await memory().stateOf(fileOf(), 'unixfs')).toBeUndefined()
  })
})
