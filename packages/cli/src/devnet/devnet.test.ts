import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run } from '../run.ts'
import { testTerminal } from '../testing-terminal.ts'
import { descendantsOf, factsOf, isAlive, openPorts, pidsOf, runDevnet, temporaryDir } from './testing-devnet.ts'

const TIMEOUT_MS = 120_000

describe('lade devnet', () => {
  it('takes a file of a wallet, shows its deal, and takes itself down with Ctrl-C', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const home = await temporaryDir()
    const dir = join(home, 'devnet')
    // What a shell has set for another service is not for this one.
    const devnet = runDevnet(['--dir', dir], {
      LADE_PORT: 'not a port',
      LADE_PROVER_PORT: 'neither',
      LADE_TOKEN: 'none',
    })
    await expect.poll(devnet.stdout, { timeout: 45_000 }).toContain('Next, in another terminal:')
    const [command] = /lade put .*(?= FILE)/.exec(devnet.stdout()) ?? []
    expect((await stat(join(dir, 'wallet.key'))).mode & 0o777).toBe(0o600)
    await writeFile(join(home, 'big.bin'), Buffer.alloc(1_500_000, 'devnet'))

    const user = testTerminal({ cwd: home, homeDir: home })
    const args = [...(command ?? '').split(' ').slice(1), 'big.bin', '--json']
    expect(await run(args, user.terminal), user.stderr()).toBe(0)
    await expect
      .poll(devnet.stdout, { timeout: 45_000 })
      .toMatch(/ The chain {4}deal 1 proved for period 0, 0\.\d+ USDC/)
    expect(devnet.stdout()).toMatch(/ The service {2}POST \/api\/upload 200, \d+ ms/)
    expect(devnet.stdout()).toMatch(/deal 1 proposed to Prover [12]: 2\.0 MiB for 30 days/)

    const started = descendantsOf(devnet.pid)
    // The keeper of anvil, anvil, two provers and the service.
    expect(started).toHaveLength(5)
    expect(await devnet.end('SIGINT')).toBe(0)
    expect(started.filter(isAlive)).toEqual([])
    expect((await readdir(dir)).sort()).toEqual(['logs', 'prover-1', 'prover-2', 'service', 'wallet.key'])
    expect(await readFile(join(dir, 'logs/service.log'), 'utf8')).toContain('Lade is ready at')
  })

  it('leaves no process behind when it is killed, nor when a prover was', { timeout: TIMEOUT_MS }, async () => {
    // Whoever is killed cannot remove what is temporary.
    const dir = join(await temporaryDir(), 'devnet')
    const devnet = runDevnet(['--json', '--provers', '3', '--provers-may-end', '--dir', dir])
    const facts = await factsOf(devnet)
    expect(await openPorts(facts)).toHaveLength(5)
    const [first] = facts.provers
    if (first === undefined) throw new Error('there is no prover')
    process.kill(first.pid, 'SIGKILL')
    await expect.poll(() => isAlive(first.pid)).toBe(false)
    expect((await fetch(`${facts.service.url}/healthz`)).status).toBe(200)
    expect(devnet.stderr()).toBe('')

    const started = [...descendantsOf(devnet.pid), ...pidsOf(facts)]
    await devnet.end('SIGKILL')
    await expect.poll(() => started.filter(isAlive), { timeout: 10_000 }).toEqual([])
    expect(await openPorts(facts)).toEqual([])
  })

  it('ends as a whole when a part of it does, and says which', { timeout: TIMEOUT_MS }, async () => {
    const devnet = runDevnet(['--json', '--provers', '1'])
    const facts = await factsOf(devnet)
    expect((await stat(facts.dir)).mode & 0o077).toBe(0)
    process.kill(facts.chain.pid, 'SIGKILL')
    expect(await devnet.exited).toBe(1)
    expect(devnet.stderr()).toBe('The chain exited with exit code 1.\n')
    expect(pidsOf(facts).filter(isAlive)).toEqual([])
    await expect(stat(facts.dir)).rejects.toThrow('ENOENT')
  })

  it('error: without anvil it says what to install', async () => {
    const dir = await temporaryDir()
    const hook = join(dir, 'no-anvil.cjs')
    await writeFile(
      hook,
      `const Module = require('node:module')
      const resolve = Module._resolveFilename
      Module._resolveFilename = (name, ...rest) => {
        if (name.startsWith('@foundry-rs/')) throw Object.assign(new Error(name), { code: 'MODULE_NOT_FOUND' })
        return resolve(name, ...rest)
      }`,
    )
    // Only Node.js is on the PATH, so that no installed Foundry is found there.
    const devnet = runDevnet([], { NODE_OPTIONS: `--require=${hook}`, PATH: dirname(process.execPath) })
    expect(await devnet.exited).toBe(1)
    expect(devnet.stderr()).toBe(
      'anvil is missing. Install Foundry, or on Linux x64 the npm package @foundry-rs/anvil-linux-amd64.\n',
    )
    expect(devnet.stdout()).toBe('')
  })

  it('error: a folder that has something in it is left alone', async () => {
    const cwd = await temporaryDir()
    await mkdir(join(cwd, 'photos'))
    await writeFile(join(cwd, 'photos/one.jpg'), '')
    const user = testTerminal({ cwd })
    expect(await run(['devnet', '--dir', 'photos'], user.terminal)).toBe(2)
    expect(user.stderr()).toMatch(/^photos is not empty\. /)
    expect(await readdir(join(cwd, 'photos'))).toEqual(['one.jpg'])
  })
})
