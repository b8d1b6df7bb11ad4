import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FakeChain, openFakeChain } from '@lade/server/testing/fake-chain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../run.ts'
import { startTestService, type TestService } from '../testing-service.ts'
import { type TestTerminalOptions, testTerminal } from '../testing-terminal.ts'

const ONE_USDC = 1_000_000n
const TEXT = 'hello from a wallet\n'

let chain: FakeChain
let service: TestService
let dir = ''
let address: `0x${string}` = '0x'
beforeAll(async () => {
  chain = openFakeChain()
  // The endpoint is never asked, since the chain stands in its place.
  const env = { LADE_CHAIN_RPC: 'http://127.0.0.1:1', LADE_USDC: `0x${'2'.repeat(40)}` }
  service = await startTestService(env, { chain })
  dir = await mkdtemp(join(tmpdir(), 'lade-cli-wallet-'))
  await writeFile(join(dir, 'hello.txt'), TEXT)
  address = (await lade(['wallet', 'new', 'key'])).stdout.trim() as `0x${string}`
  chain.setBalance(address, ONE_USDC)
})
afterAll(async () => {
  await service.close()
  await rm(dir, { recursive: true, force: true })
})

async function lade(args: readonly string[], options: TestTerminalOptions = {}) {
  const env = { LADE_URL: service.url, ...options.env }
  const { terminal, stdout, stderr } = testTerminal({ homeDir: dir, cwd: dir, ...options, env })
  const exitCode = await run(args, terminal)
  return { exitCode, stdout: stdout(), stderr: stderr(), json: () => JSON.parse(stdout()) }
}

describe('a wallet on the command line', () => {
  const env = { LADE_WALLET: 'key' }
  const mine = (...args: string[]) => lade(args, { env })

  it('puts, lists, fetches, shares and removes what is its own', async () => {
    const put = await lade(['put', 'hello.txt', '--private', '--json', '--wallet', 'key'])
    expect(put).toMatchObject({ exitCode: 0, stderr: '' })
    const { cid, dealId } = put.json()
    expect(put.json()).toMatchObject({ owner: address, sponsored: false })
    expect((await mine('ls', '--json')).json()).toMatchObject([{ cid, visibility: 'private' }])
    expect((await lade(['get', cid, '-o', 'stolen'])).exitCode).toBe(4)
    expect((await mine('get', cid, '-o', 'copy.txt')).exitCode).toBe(0)
    expect(await readFile(join(dir, 'copy.txt'), 'utf8')).toBe(TEXT)
    const { url } = (await mine('share', cid, '--json')).json()
    expect(await (await fetch(url)).text()).toBe(TEXT)
    expect((await mine('deals', dealId, '--json')).json()).toMatchObject({ dealId, cid })
    const extended = await mine('deals', 'extend', dealId, '--days', '2', '--json')
    expect(extended.json()).toMatchObject({ dealId, term: '32 days' })
    expect((await mine('deals', 'proofs', dealId, '--json')).json()).toMatchObject({ dealId, audits: [] })
    // A private file is given to no prover, and only its owner hears of that.
    expect((await mine('challenge', cid)).stderr).toMatch(
      /^The file is private, and provers get only public files\. .*"lade edit CID --public"\.$/m,
    )
    expect((await lade(['challenge', cid])).exitCode).toBe(4)
    expect((await mine('usage')).stdout).toMatch(new RegExp(`user +eip155:31337:${address}\n`))
    expect((await mine('rm', cid, '--yes')).exitCode).toBe(0)
    expect((await mine('get', cid, '-o', 'gone')).exitCode).toBe(4)
  })

  it('says why an empty one puts nothing', async () => {
    await lade(['wallet', 'new', 'empty'])
    const { exitCode, stderr } = await lade(['put', 'hello.txt', '--wallet', 'empty'])
    expect(exitCode).toBe(5)
    expect(stderr).toContain('holds no USDC, so its quota is 0. Send USDC to it.')
    const { stdout } = await lade(['doctor', '--wallet', 'empty', '--data-dir', service.dataDir])
    expect(stdout).toMatch(
      /^warning +The wallet in empty is accepted as .*, but has too little USDC to upload anything\.$/m,
    )
  })

  it('is refused on another chain than that of the service', async () => {
    expect(await lade(['ls', '--wallet', 'key', '--chain-id', '1'])).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining('expected 31337.'),
    })
  })
})
