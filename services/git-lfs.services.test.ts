import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { type Lade, startLade } from './lade.ts'
import { openTempHome, type TempHome } from './temp-home.ts'

const FILES = 200
/** Of all files together. */
const TOTAL_BYTES = process.env.LADE_TEST_PLAN === 'full' ? 1024 ** 3 : 64 * 1024 ** 2

interface Ran {
  readonly code: number | null
  readonly output: string
}

describeScenario(
  { id: 'git-lfs', name: 'git-lfs', needs: [program('git', 'git'), program('git-lfs', 'git-lfs')] },
  () => {
    let home: TempHome
    let service: Lade
    let token: string
    beforeAll(async () => {
      home = openTempHome('git-lfs')
      service = await startLade({
        LADE_PORT: '0',
        LADE_DATA_DIR: join(home.path, 'data'),
        LADE_MIN_FREE_MB: '0',
        LADE_TOKEN_DAILY_MB: '4096',
      })
      const signup = await fetch(new URL('/api/auth/signup', service.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ada@example.org', label: 'git' }),
      })
      token = ((await signup.json()) as { token: string }).token
      writeFileSync(
        join(home.path, '.gitconfig'),
        `[user]\n  name = Ada\n  email = ada@example.org\n[init]\n  defaultBranch = main\n[protocol "file"]\n  allow = always\n` +
          `[credential]\n  helper = "!f() { echo username=git; echo password=${token}; }; f"\n` +
          `[lfs]\n  url = ${new URL('/lfs/project', service.url).href}\n[lfs "transfer"]\n  maxretries = 1\n`,
      )
      expect((await run(['lfs', 'install'])).code).toBe(0)
    })
    afterAll(async () => {
      await service?.stop()
      home?.discard()
    })

    const pathIn = (...names: string[]): string => join(home.path, ...names)

    function run(args: readonly string[], { cwd = home.path }: { cwd?: string } = {}): Promise<Ran> {
      const { PATH } = process.env
      const child = spawn(pathOf('git') ?? 'git', args, {
        cwd,
        env: { PATH, HOME: home.path, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1' },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk: Buffer) => {
          output += chunk.toString('utf8')
        })
      }
      return new Promise((resolve, reject) => {
        child.once('error', reject)
        child.once('close', (code) => resolve({ code, output }))
      })
    }

    async function git(folder: string, ...args: string[]): Promise<string> {
      const { code, output } = await run(args, { cwd: pathIn(folder) })
      expect(code, output).toBe(0)
      return output
    }

    /** A new repository with these files as objects, and a bare one that it is pushed to. */
    async function newRepository(name: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
      await run(['init', '--bare', pathIn(`${name}.git`)])
      await run(['init', pathIn(name)])
      await git(name, 'lfs', 'track', '*.bin')
      for (const [file, bytes] of files) writeFileSync(pathIn(name, file), bytes)
      await git(name, 'add', '.')
      await git(name, 'commit', '--quiet', '--message', 'objects')
      await git(name, 'remote', 'add', 'origin', pathIn(`${name}.git`))
    }

    test('pushes and clones, and fsck finds every object as it was', { timeout: 300_000 }, async () => {
      const files = new Map(
        Array.from({ length: FILES }, (_, index) => {
          // From a byte to twice the mean.
          const sizeBytes = Math.max(1, Math.round((2 * TOTAL_BYTES * index) / FILES / FILES))
          return [`${index}.bin`, randomBytes(sizeBytes)] as const
        }),
      )
      await newRepository('first', files)
      await git('first', 'push', 'origin', 'main')
      await git('.', 'clone', '--quiet', pathIn('first.git'), pathIn('clone'))
      for (const [file, bytes] of files)
        expect(Buffer.compare(readFileSync(pathIn('clone', file)), bytes), file).toBe(0)
      expect(await git('clone', 'lfs', 'fsck')).toContain('Git LFS fsck OK')

      // Nothing is sent again.
      const usage = async () => {
        const response = await fetch(new URL('/api/usage', service.url), {
          headers: { authorization: `Bearer ${token}` },
        })
        return (await response.json()) as { today: { bytes: number; files: number } }
      }
      const before = await usage()
      expect(before.today.files).toBe(FILES)
      await git('first', 'lfs', 'push', '--all', 'origin')
      expect(await usage()).toEqual(before)
    })

    test('refuses an object that is not what its oid says, and says why', async () => {
      await newRepository('damaged', new Map([['one.bin', randomBytes(100_000)]]))
      const objects = pathIn('damaged', '.git', 'lfs', 'objects')
      const [object = ''] = readdirSync(objects, { recursive: true, encoding: 'utf8' }).filter((name) =>
        statSync(join(objects, name)).isFile(),
      )
      writeFileSync(join(objects, object), randomBytes(100_000), { mode: 0o644, flag: 'r+' })
      const { code, output } = await run(['push', 'origin', 'main'], { cwd: pathIn('damaged') })
      expect(code).not.toBe(0)
      expect(output).toMatch(/Nothing was stored|corrupt/i)
    })

    test('asks for a token, and names what it has not', async () => {
      await newRepository('private', new Map([['two.bin', randomBytes(1000)]]))
      await git('private', 'push', 'origin', 'main')
      const [{ oid } = { oid: '' }] = [
        ...(await git('private', 'lfs', 'ls-files', '--long')).matchAll(/(?<oid>[0-9a-f]{64})/g),
      ].map(({ groups }) => ({ oid: groups?.oid ?? '' }))
      await fetch(new URL(`/api/files/${oid}`, service.url), {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}` },
      })
      mkdirSync(pathIn('empty'))
      const { code, output } = await run(['clone', '--quiet', pathIn('private.git'), pathIn('empty', 'clone')])
      expect(code).not.toBe(0)
      expect(output).toContain('was removed by its owner')
    })
  },
)
