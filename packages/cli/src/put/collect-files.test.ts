import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LocalError, UsageError } from '../usage-error.ts'
import { collectFiles } from './collect-files.ts'

let cwd = ''
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'lade-collect-'))
  for (const folder of ['photos/2025', 'photos/.git']) await mkdir(join(cwd, folder), { recursive: true })
  for (const file of [
    'photos/b.jpg',
    'photos/a.jpg',
    'photos/2025/c.jpg',
    'photos/.env',
    'photos/.git/head',
    'alone',
  ]) {
    await writeFile(join(cwd, file), file)
  }
  await writeFile(join(cwd, 'photos/empty'), '')
  await symlink('../alone', join(cwd, 'photos/link'))
  await symlink('..', join(cwd, 'photos/2025/up'))
  await symlink('alone', join(cwd, 'named'))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

async function collect(names: readonly string[], { isRecursive = true, isLoose = true, takesHidden = false } = {}) {
  const { files, leftOut } = await collectFiles(names, { cwd, isRecursive, isLoose, takesHidden })
  return {
    files: files.map(({ shown, name, sizeBytes }) => [shown, name, sizeBytes]),
    leftOut: leftOut.map(({ shown, because }) => [shown, because]),
  }
}

describe('collectFiles', () => {
  it('takes every file below a folder, in order, and lists what it leaves out', async () => {
    expect(await collect(['photos'])).toEqual({
      files: [
        ['photos/2025/c.jpg', 'c.jpg', 17],
        ['photos/a.jpg', 'a.jpg', 12],
        ['photos/b.jpg', 'b.jpg', 12],
        ['photos/empty', 'empty', 0],
      ],
      leftOut: [
        ['photos/.env', 'hidden'],
        ['photos/.git', 'hidden'],
        ['photos/2025/up', 'link'],
        ['photos/link', 'link'],
      ],
    })
  })

  it('takes hidden files and folders when asked to', async () => {
    const { files } = await collect(['photos'], { takesHidden: true })
    expect(files.map(([shown]) => shown)).toEqual([
      'photos/.env',
      'photos/.git/head',
      'photos/2025/c.jpg',
      'photos/a.jpg',
      'photos/b.jpg',
      'photos/empty',
    ])
  })

  it('takes what is named whatever it is: hidden, a link, empty', async () => {
    expect(await collect(['photos/.env', 'named', 'photos/empty'], { isRecursive: false })).toEqual({
      files: [
        ['photos/.env', '.env', 11],
        ['named', 'named', 5],
        ['photos/empty', 'empty', 0],
      ],
      leftOut: [],
    })
  })

  it('takes a folder as one', async () => {
    const found = await collectFiles(['photos', 'alone'], {
      cwd,
      isRecursive: true,
      isLoose: false,
      takesHidden: false,
    })
    expect(found.folders).toEqual([{ folder: join(cwd, 'photos'), shown: 'photos' }])
    expect(found.files.map(({ shown }) => shown)).toEqual(['alone'])
    expect(found.leftOut).toEqual([])
  })

  it('knows a file that was changed from what it was', async () => {
    const version = async () =>
      (await collectFiles(['alone'], { cwd, isRecursive: false, isLoose: false, takesHidden: false })).files[0]?.version
    const before = await version()
    expect(await version()).toBe(before)
    await rm(join(cwd, 'alone'))
    await writeFile(join(cwd, 'alone'), 'other')
    expect(await version()).not.toBe(before)
  })

  it('refuses a folder without -r, and a name that leads nowhere', async () => {
    await expect(collect(['photos'], { isRecursive: false })).rejects.toThrow(UsageError)
    await expect(collect(['photos'], { isRecursive: false })).rejects.toThrow('photos is a folder. Add -r')
    await expect(collect(['nowhere'])).rejects.toThrow(LocalError)
    await expect(collect(['alone/below'])).rejects.toThrow('There is no file alone/below.')
    await expect(collect(['/dev/null'])).rejects.toThrow('Pipe its content')
  })
})
