import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { marketplaceAbi } from '@lade/contracts'
import { ANVIL_KEY, type Anvil, startAnvil } from '@lade/contracts/anvil'
import { readConfig } from '@lade/server/config'
import { createClient, http, publicActions } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { run } from '../run.ts'
import { testTerminal } from '../testing-terminal.ts'

let anvil: Anvil
let dir = ''
beforeAll(async () => {
  anvil = await startAnvil()
})
afterAll(() => anvil.stop())
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lade-chain-'))
  writeFileSync(join(dir, 'deployer.key'), ANVIL_KEY)
  chmodSync(join(dir, 'deployer.key'), 0o600)
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

async function deploy(flags: readonly string[] = [], rpc = anvil.rpcUrl) {
  const { terminal, stdout, stderr } = testTerminal({ cwd: dir, homeDir: dir })
  const exitCode = await run(['chain', 'deploy', '--rpc', rpc, '--key', 'deployer.key', ...flags], terminal)
  return { exitCode, stdout: stdout(), stderr: stderr() }
}

/** A node that answers as anvil does, with blocks whose mixHash is this. */
async function nodeWithout(mixHash: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    const asked = await fetch(anvil.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const answer = Object(await asked.json())
    if (JSON.parse(body).method === 'eth_getBlockByNumber' && answer.result) answer.result.mixHash = mixHash
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/secret-key-of-the-node`
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe('lade chain deploy', () => {
  test('deploys a marketplace that the service can use, and writes where it is', async () => {
    const first = await deploy(['--period', '3600', '--acceptance', '600'])
    expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('to marketplace.json') })
    const facts = JSON.parse(readFileSync(join(dir, 'marketplace.json'), 'utf8'))
    expect(facts).toEqual({
      chainId: 31_337,
      usdc: expect.stringMatching(/^0x/),
      marketplace: expect.stringMatching(/^0x/),
      version: 2,
      firstDealId: '1',
      deployedAtBlock: expect.stringMatching(/^\d+$/),
    })
    const { usdc, marketplace } = facts
    const env = { LADE_CHAIN_RPC: anvil.rpcUrl, LADE_USDC: usdc, LADE_CHAIN_KEY: ANVIL_KEY }
    const config = readConfig({ env: { ...env, LADE_MARKETPLACE: 'marketplace.json' }, cwd: dir })
    expect(config.chain).toMatchObject({ chainId: 31_337, marketplace: { contracts: [marketplace] } })
    const client = createClient({ transport: http(anvil.rpcUrl) }).extend(publicActions)
    const contract = { address: marketplace, abi: marketplaceAbi } as const
    await expect(client.readContract({ ...contract, functionName: 'VERSION' })).resolves.toBe(2n)
    await expect(client.readContract({ ...contract, functionName: 'provingPeriod' })).resolves.toBe(3_600n)
    await expect(client.readContract({ ...contract, functionName: 'acceptanceWindow' })).resolves.toBe(600n)

    const flags = ['--usdc', usdc, '--first-deal', '1000000', '--out', 'next.json', '--json']
    const next = await deploy(flags)
    expect(JSON.parse(next.stdout)).toMatchObject({ usdc, firstDealId: '1000000', version: 2 })
    const address = JSON.parse(next.stdout).marketplace
    const lastDealId = { address, abi: marketplaceAbi, functionName: 'lastDealId' } as const
    await expect(client.readContract(lastDealId)).resolves.toBe(999_999n)
  })

  test('error: a file that is there, a token that is none, and a chain that needs one', async () => {
    writeFileSync(join(dir, 'there.json'), '{}')
    expect(await deploy(['--out', 'there.json'])).toMatchObject({
      ...{ exitCode: 2, stderr: expect.stringContaining('there.json already exists.') },
    })
    expect(readFileSync(join(dir, 'there.json'), 'utf8')).toBe('{}')
    expect(await deploy(['--usdc', `0x${'12'.repeat(20)}`])).toMatchObject({
      ...{ exitCode: 2, stderr: expect.stringContaining('There is no token of 6 decimals at 0x1212') },
    })
    expect(existsSync(join(dir, 'marketplace.json')), 'nothing was deployed').toBe(false)
    const other = await startAnvil({ chainId: 8453 })
    onTestFinished(() => other.stop())
    expect(await deploy([], other.rpcUrl)).toMatchObject({
      ...{ exitCode: 2, stderr: expect.stringContaining('Chain 8453 is not a local one. Pass --usdc') },
    })
  })

  test('error: a chain without randomness is refused with the reason, and no error says the URL of the node', async () => {
    const rpc = await nodeWithout(`0x${'00'.repeat(32)}`)
    const refused = await deploy([], rpc)
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('have no randomness: mixHash is 0x00'),
    })
    expect(refused.stderr).toContain('so nothing is deployed')
    const gone = await deploy([], 'http://127.0.0.1:1/v2/secret-key-of-the-node')
    expect(gone.exitCode).toBe(1)
    expect(refused.stderr + gone.stderr).not.toContain('secret-key')
    expect(existsSync(join(dir, 'marketplace.json'))).toBe(false)
  })
})
