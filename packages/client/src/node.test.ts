import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fileState } from './node.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lade-client-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('fileState', () => {
  it('has nothing until something is saved, then the last of it, then nothing', async () => {
    const state = fileState(join(folder, 'put.json'))
    expect(await state.load()).toBeUndefined()
    await state.save('one')
    await state.save('two')
    expect(await state.load()).toBe('two')
    await state.clear()
    await state.clear()
    expect(await state.load()).toBeUndefined()
    expect(await readdir(folder)).toEqual([])
  })

  it('writes what only its owner can read, and leaves no draft', async () => {
    const path = join(folder, 'put.json')
    await fileState(path).save('one')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual(['put.json'])
    await expect(fileState(join(folder, 'missing', 'put.json')).save('one')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
