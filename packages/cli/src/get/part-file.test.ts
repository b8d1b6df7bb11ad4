import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LocalError } from '../usage-error.ts'
import { PartFile } from './part-file.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lade-part-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const bytes = (text: string) => new TextEncoder().encode(text)
async function* body(...chunks: string[]) {
  for (const chunk of chunks) yield bytes(chunk)
}
async function* broken(...chunks: string[]) {
  yield* body(...chunks)
  throw new Error('cut')
}
const target = () => join(dir, 'file.txt')

describe('PartFile', () => {
  it('lies beside its place until it takes it', async () => {
    const part = new PartFile(target(), 'bafk')
    await part.write(body('hel', 'lo'), 0)
    expect(await readdir(dir)).toEqual([expect.stringMatching(/^file\.txt\.part-[0-9a-f]{8}$/)])
    await part.publish({ mayReplace: false })
    expect(await readdir(dir)).toEqual(['file.txt'])
    expect(await readFile(target(), 'utf8')).toBe('hello')
  })

  it('keeps what came when the body breaks, for the next fetch of the same id only', async () => {
    const part = new PartFile(target(), 'bafk')
    await expect(part.write(broken('hel'), 0)).rejects.toThrow('cut')
    expect(await new PartFile(target(), 'other').have()).toBeUndefined()
    const again = new PartFile(target(), 'bafk')
    expect(await (await again.have())?.text()).toBe('hel')
    await again.write(body('lo'), 3)
    expect(await readFile(again.path, 'utf8')).toBe('hello')
  })

  it('leaves nothing of a longer part behind the end', async () => {
    const part = new PartFile(target(), 'bafk')
    await part.write(body('something longer'), 0)
    await part.write(body('hello'), 0)
    expect(await readFile(part.path, 'utf8')).toBe('hello')
  })

  it('never takes the place of a file, unless it may', async () => {
    await writeFile(target(), 'mine')
    const part = new PartFile(target(), 'bafk')
    await part.write(body('hello'), 0)
    await expect(part.publish({ mayReplace: false })).rejects.toThrow(LocalError)
    expect(await readFile(target(), 'utf8')).toBe('mine')
    await part.publish({ mayReplace: true })
    expect(await readFile(target(), 'utf8')).toBe('hello')
  })

  it('writes through no link that lies in its way', async () => {
    const victim = join(dir, 'victim')
    await writeFile(victim, 'mine')
    const part = new PartFile(target(), 'bafk')
    await symlink(victim, part.path)
    expect(await part.have()).toBeUndefined()
    await expect(part.write(body('hello'), 0)).rejects.toThrow(/ELOOP/)
    expect(await readFile(victim, 'utf8')).toBe('mine')
  })
})
