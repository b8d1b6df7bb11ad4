import { execFileSync } from 'node:child_process'
import { lstatSync, mkdtempSync, rmSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fingerprintOf } from './path-source.ts'
import { SmallFiles } from './small-files.ts'
import { Turns } from './turns.ts'

describe('small files of a folder', () => {
  let folder: string
  let path: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lade-small-'))
    path = join(folder, 'file')
    writeFileSync(path, 'hello')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const listed = () => {
    const found = lstatSync(path, { bigint: true })
    return { sizeBytes: Number(found.size), fingerprint: fingerprintOf(found) }
  }
  const read = (as: ReturnType<typeof listed>) => new SmallFiles(new Turns()).read(path, as)

  it('are read whole', async () => {
    expect(Buffer.from((await read(listed())) ?? []).toString()).toBe('hello')
    writeFileSync(path, '')
    expect(await read(listed())).toEqual(new Uint8Array())
  })

  it.each<[string, () => void]>([
    ['became shorter', () => writeFileSync(path, 'hell')],
    ['became longer', () => writeFileSync(path, 'hello!')],
    ['were written again', () => utimesSync(path, 0, 0)],
    [
      'became a pipe',
      () => {
        unlinkSync(path)
        execFileSync('mkfifo', [path])
      },
    ],
  ])('are not read when they %s since they were listed', async (_what, change) => {
    const before = listed()
    change()
    expect(await read(before)).toBeUndefined()
  })
})
