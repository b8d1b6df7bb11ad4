import { readdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTempStore, type TempStore } from './testing-temp-store.ts'

let home: TempStore
beforeEach(async () => {
  home = await openTempStore()
  home.watched.forget()
})
afterEach(() => home.remove())

describe('the text of an installation on disk', () => {
  test('is durable before its name is, and its name before the call resolves', async () => {
    await home.store.installation.write('{}')
    expect(home.watched.calls('fsync', 'rename', 'link').map((call) => call.replace(/\.[0-9a-f]{16}/, '.N'))).toEqual([
      'fsync objects/installation.json.N.tmp',
      'rename objects/installation.json',
      `fsync ${home.root.split('/').at(-1)}/objects`,
    ])
    expect((await stat(join(home.dir, 'installation.json'))).mode & 0o777).toBe(0o600)
  })

  test('stays as it was when any step of writing it fails, and leaves no file behind', async () => {
    await home.store.installation.write('before')
    for (const call of ['open', 'write', 'fsync', 'rename'] as const) {
      home.watched.failNext(call)
      await expect(home.store.installation.write('after')).rejects.toMatchObject({ code: 'storage_failed' })
      expect(await home.store.installation.read()).toBe('before')
      expect((await readdir(home.dir)).sort()).toEqual(['installation.json', 'pending'])
    }
  })

  test('is written where the file system knows no second names', async () => {
    for (const errno of ['EPERM', 'ENOTSUP']) {
      home.watched.failNext('link', errno)
      await home.store.installation.write(errno, { ifAbsent: true })
    }
    expect(await home.store.installation.read()).toBe('EPERM')
    expect((await readdir(home.dir)).sort()).toEqual(['installation.json', 'pending'])
  })

  test('removes what a crash left of writing it when the store is opened', async () => {
    await writeFile(join(home.dir, 'installation.json.0123456789abcdef.tmp'), 'half')
    await home.again()
    expect(await readdir(home.dir)).toEqual(['pending'])
  })

  test('is written though another process opens the store at the same moment', async () => {
    home.watched.failNext('rename', 'ENOENT')
    await home.store.installation.write('{}')
    expect(await home.store.installation.read()).toBe('{}')
  })

  test('error: is not said to be absent while the disk is not there, and is not written to its empty place', async () => {
    await rename(home.dir, `${home.dir}.away`)
    await expect(home.store.installation.read()).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(home.store.installation.write('{}')).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await readdir(home.root)).toEqual(['objects.away'])
  })
})
