import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const COMMAND = join(dirname(import.meta.dirname), 'lade')
/** Without node_modules/.bin, as in a shell; the Node.js there may be another one. */
const PATH = '/usr/local/bin:/usr/bin:/bin'

let dir = ''
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lade clone '))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

describe('./lade of a clone', () => {
  it('works in the folder that it is called from, also by a link', async () => {
    const bin = join(dir, 'bin')
    await mkdir(bin)
    await symlink(COMMAND, join(bin, 'lade'))
    await writeFile(join(dir, 'hello.txt'), 'hello')
    for (const command of [COMMAND, join(bin, 'lade')]) {
      const { stdout } = await run(command, ['hash', 'hello.txt'], { cwd: dir, env: { PATH, HOME: dir } })
      expect(stdout).toContain('2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824')
    }
  })

  it('says to run "npm ci" in a clone where nobody has', async () => {
    const clone = join(dir, 'clone')
    await mkdir(clone)
    await cp(COMMAND, join(clone, 'lade'))
    await expect(run(join(clone, 'lade'), ['--version'], { env: { PATH } })).rejects.toMatchObject({
      code: 1,
      stderr: `lade: run "npm ci" in ${clone} first.\n`,
    })
  })
})
