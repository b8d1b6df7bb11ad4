import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { expectUnharmed, measureAttack } from './attack.ts'
import { send } from './caller.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { PLAN } from './plan.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const CONNECTIONS = PLAN.attackConnections
const CHAIN_ID = 31_337

/**
 * Connections that ask again as soon as they are answered. `head` is code that answers what comes behind the request line and the host;
 * the connections come from so many addresses.
 */
function attackOf(head: string, addresses = 250): string {
  return `
  const { connect } = require('node:net')
  const { randomBytes } = require('node:crypto')
  const [port, target, connections] = process.argv.slice(1)
  const head = ${head}
  const attack = (index) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: '127.0.1.' + (1 + (index % ${addresses})) })
    const ask = () => socket.write('GET ' + target + ' HTTP/1.1\\r\\nHost: 127.0.0.1:' + port + '\\r\\n' + head() + '\\r\\n')
    socket.on('connect', ask)
    socket.on('data', ask)
    socket.on('error', () => {})
    socket.on('close', () => setTimeout(attack, 50, index))
  }
  for (let index = 0; index < connections; index += 1) attack(index)`
}

const PLAIN = `() => ''`
/** A signature that no key made, of an account that nobody has: each by itself, and each to be looked up. */
const FAKE = `() => {
  const created = Math.floor(Date.now() / 1000)
  const keyId = 'erc8128:${CHAIN_ID}:0x' + randomBytes(20).toString('hex')
  const parameters = ';created=' + created + ';expires=' + (created + 60) + ';nonce="' + randomBytes(9).toString('hex') + '";keyid="' + keyId + '"'
  const signature = Buffer.concat([randomBytes(32), Buffer.from([1]), randomBytes(31), Buffer.from([27])]).toString('base64')
  return 'Signature-Input: eth=("@method" "@authority" "@path")' + parameters + '\\r\\nSignature: eth=:' + signature + ':\\r\\n'
}`

/** A node of a chain on which nobody has anything, and how often it was asked what. */
async function startNode(): Promise<{ readonly url: string; readonly asked: Map<string, number> }> {
  const asked = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number; method: string }
    asked.set(method, (asked.get(method) ?? 0) + 1)
    const answers: Record<string, string> = {
      eth_chainId: `0x${CHAIN_ID.toString(16)}`,
      eth_call: `0x${'6'.padStart(64, '0')}`,
      eth_getCode: '0x',
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

async function startWithNode(): Promise<{ readonly server: ServerProcess; readonly asked: Map<string, number> }> {
  const { url, asked } = await startNode()
  const usdc = { LADE_USDC: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', LADE_USDC_PER_GIB: '1' }
  const server = await startServer({ env: { ...BOUNDLESS_QUOTAS, ...usdc, LADE_CHAIN_RPC: url } })
  return { server, asked }
}

test(`${CONNECTIONS} connections that ask for /readyz have the chain asked once a second`, async () => {
  const { server, asked } = await startWithNode()
  const startedAt = performance.now()
  const before = asked.get('eth_chainId') ?? 0
  const script = attackOf(PLAIN)
  const seen = await measureAttack({ server, script, args: ['/readyz', String(CONNECTIONS)], forMs: PLAN.attackMs })
  const seconds = (performance.now() - startedAt) / 1000
  expect((await send(server.url, 'GET', '/readyz')).status).toBe(200)
  expect((asked.get('eth_chainId') ?? 0) - before).toBeLessThanOrEqual(seconds + 2)
  await expectUnharmed(server, '/readyz', seen)
})

test(`${CONNECTIONS} connections with fake signatures have the chain asked a bounded number of times`, async () => {
  const { server, asked } = await startWithNode()
  const startedAt = performance.now()
  const script = attackOf(FAKE)
  const seen = await measureAttack({ server, script, args: ['/api/files', String(CONNECTIONS)], forMs: PLAN.attackMs })
  const codes = asked.get('eth_getCode') ?? 0
  // What all may leave unpaid together, what each of 250 addresses may on top of it, what was under way when it was used up, and what comes back.
  const minutes = Math.ceil((performance.now() - startedAt) / 60_000)
  expect(codes).toBeLessThanOrEqual(600 + 250 * 10 + 250 * 4 + minutes * 250 * 7)
  await expectUnharmed(server, 'fake signatures', seen)
})

test(`${CONNECTIONS} connections that are refused fill no log`, async () => {
  const addresses = PLAN.isFull ? 10 : 1
  const server = await startServer({ env: { ...BOUNDLESS_QUOTAS, LADE_LOG_LEVEL: 'info' } })
  const script = attackOf(PLAIN, addresses)
  const seen = await measureAttack({ server, script, args: ['/nowhere', String(CONNECTIONS)], forMs: PLAN.attackMs })
  await expectUnharmed(server, 'refused requests', seen)
  const lines = server
    .log()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []))
  const minutes = 1 + Math.ceil((3 * PLAN.attackMs) / 60_000)
  expect(lines.filter(({ status }) => status === 404).length).toBeLessThanOrEqual(minutes * addresses * 100)
  const summaries = lines.filter(({ msg }) => msg === 'refused requests omitted from the log')
  // In the short time of the ordinary plan the attack may be below the limit.
  if (PLAN.isFull) expect(summaries.length).toBeGreaterThan(0)
  expect(summaries.length).toBeLessThanOrEqual(minutes * (addresses + 1))
})
