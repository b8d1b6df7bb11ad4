import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { SecretString } from '@lade/node/settings'
import { parseGwei } from 'viem'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type ChainHarness,
  PAY_OF_PERIOD,
  PERIOD_SECONDS,
  startChainHarness,
  WINDOW_SECONDS,
} from '../testing/chain-harness.ts'
import { forwardTo } from '../testing/chain-relay.ts'
import { readLog, startFollowingProver } from '../testing/following-prover.ts'
import { pieceOf } from '../testing/harness.ts'
import { synapseClient } from '../testing/synapse-client.ts'
import { DEAL_STATES } from './deal.ts'

const startWith = startFollowingProver

const dealState = (harness: ChainHarness, dealId: bigint) => async () => DEAL_STATES[(await harness.deal(dealId)).state]
const becomes = (harness: ChainHarness, dealId: bigint, state: string) =>
  harness.mineUntil(async () => (await dealState(harness, dealId)()) === state)

describe.each([1, 2] as const)('a prover that follows a marketplace of version %i', (version) => {
  test('accepts a deal, proves every period of it, and is paid in the end', async () => {
    const harness = await startChainHarness({ version })
    const account = await harness.newProver()
    const [small, large] = [pieceOf(127), pieceOf(200_000)]
    await startWith(account, { pieces: [small, large] })
    const before = await harness.balanceOf(harness.client)
    const dealIds = [await harness.propose(account.address, large, 4), await harness.propose(account.address, small, 3)]
    for (const dealId of dealIds) await becomes(harness, dealId, 'settled')
    expect(await Promise.all(dealIds.map(harness.provenPeriods))).toEqual([4, 3])
    expect(await harness.balanceOf(account.address)).toBe(7n * PAY_OF_PERIOD)
    expect(before - (await harness.balanceOf(harness.client))).toBe(7n * PAY_OF_PERIOD)
  })

  test('settles what it has earned before the deal is over, a few periods at a time', async () => {
    const harness = await startChainHarness({ version })
    const account = await harness.newProver()
    const piece = pieceOf(1000)
    await startWith(account, { pieces: [piece], settledPeriods: 3n })
    const dealId = await harness.propose(account.address, piece, 100)
    await harness.mineUntil(async () => (await harness.balanceOf(account.address)) > 0n)
    expect(await harness.balanceOf(account.address)).toBe(3n * PAY_OF_PERIOD)
    expect(await dealState(harness, dealId)()).toBe('active')
  })

  test('sends again what a reorganisation took back while another transaction waited for its block', async () => {
    const harness = await startChainHarness({ version })
    const { chain } = harness
    const account = await harness.newProver()
    const [first, second] = [pieceOf(3000, 1), pieceOf(3000, 3)]
    await startWith(account, { pieces: [first, second] })
    const dealId = await harness.propose(account.address, first, 4)
    const proposedIn = await chain.getBlockNumber()
    await harness.mineUntil(async () => (await harness.provenPeriods(dealId)) === 1)
    await harness.propose(account.address, second, 4)
    const sent = (blockTag: 'latest' | 'pending') => chain.getTransactionCount({ address: account.address, blockTag })
    const inBlocks = await sent('latest')
    await expect.poll(() => sent('pending')).toBe(inBlocks + 1)
    await chain.request({
      method: 'anvil_rollback',
      params: [Number((await chain.getBlockNumber()) - proposedIn)],
    } as never)
    expect(await sent('latest')).toBeLessThan(inBlocks)
    await becomes(harness, dealId, 'settled')
    expect(await harness.provenPeriods(dealId)).toBe(4)
  })

  test('offers what gas costs by then for a transaction that waits for its block', async () => {
    const harness = await startChainHarness({ version })
    const { chain } = harness
    const account = await harness.newProver()
    const { lines, log } = readLog()
    const piece = pieceOf(3000)
    await startWith({ ...account, raiseAfterMs: 100 }, { pieces: [piece], log })
    const dealId = await harness.propose(account.address, piece, 4)
    await expect.poll(() => chain.getTransactionCount({ address: account.address, blockTag: 'pending' })).toBe(1)
    await harness.mineUntil(async () => {
      await chain.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('300') })
      return (await dealState(harness, dealId)()) === 'active'
    })
    expect(lines.map(({ msg }) => msg)).not.toContain('the chain is not usable; retrying')
  })

  test('goes on after a restart from what the chain says, with its cursor and without it', async () => {
    const harness = await startChainHarness({ version })
    const account = await harness.newProver()
    const [first, second] = [pieceOf(3000, 1), pieceOf(3000, 3)]
    const prover = await startWith(account, { pieces: [first, second] })
    const { dir } = prover
    const dealId = await harness.propose(account.address, first, 6)
    await harness.mineUntil(async () => (await harness.provenPeriods(dealId)) === 2)
    await prover.close()
    // Proposed while nobody looks.
    const later = await harness.propose(account.address, second, 6)
    const cursor = join(dir, 'chain-cursor.json')
    await rm(cursor, { force: true })
    const again = await startWith(account, { dir })
    await harness.mineUntil(async () => (await harness.provenPeriods(later)) === 2)
    await again.close()
    await writeFile(cursor, '{"not":"a cursor"}')
    await startWith(account, { dir })
    for (const id of [dealId, later]) await becomes(harness, id, 'settled')
    expect(await harness.provenPeriods(later)).toBe(6)
    expect(await harness.provenPeriods(dealId)).toBeGreaterThanOrEqual(5)
  })

  test('keeps its cursor behind the deals that are not over for good', async () => {
    const harness = await startChainHarness({ version })
    const [account, stranger] = [await harness.newProver(), await harness.newProver()]
    const piece = pieceOf(500)
    const prover = await startWith(account, { pieces: [piece] })
    const path = join(prover.dir, 'chain-cursor.json')
    const cursorOf = async () =>
      JSON.parse(await readFile(path, 'utf8')).firstDealIds[harness.marketplace.toLowerCase()]
    await harness.propose(stranger.address, piece, 1)
    const over = await harness.propose(account.address, piece, 1)
    await becomes(harness, over, 'settled')
    await prover.close()
    await expect(cursorOf()).rejects.toThrow('ENOENT')

    const again = await startWith(account, { dir: prover.dir })
    const open = await harness.propose(account.address, piece, 100)
    await becomes(harness, open, 'active')
    await again.close()
    await expect(cursorOf()).rejects.toThrow('ENOENT')

    const last = await startWith(account, { dir: prover.dir })
    await harness.mineUntil(async () => (await harness.provenPeriods(open)) > 0)
    await harness.mineSeconds(30)
    // More than the hour in which something might still change back.
    await harness.chain.increaseTime({ seconds: 3700 })
    await harness.propose(account.address, piece, 100)
    await harness.mineSeconds(100)
    await last.close()
    expect(await cursorOf()).toBe(String(open))
  })

  test('does not accept what it does not hold, and holds against nobody what comes later', async () => {
    const harness = await startChainHarness({ version })
    const account = await harness.newProver()
    const [held, missing, wrongSize] = [pieceOf(400, 1), pieceOf(400, 3), pieceOf(400, 5)]
    const { lines, log } = readLog()
    const prover = await startWith(account, { pieces: [held, wrongSize], log })
    const unheld = await harness.propose(account.address, missing, 2)
    const resized = await harness.propose(account.address, wrongSize, 2, { pieceSize: 1024n })
    const good = await harness.propose(account.address, held, 2)
    await becomes(harness, good, 'active')
    await harness.mineSeconds(100)
    expect(await dealState(harness, unheld)()).toBe('proposed')
    await synapseClient(prover.url).uploadPiece(missing.pieceCid, missing.bytes)
    await becomes(harness, unheld, 'active')
    await harness.mineSeconds(WINDOW_SECONDS)
    expect(await dealState(harness, resized)()).toBe('proposed')
    const refusals = lines.filter(({ msg }) => msg === 'a deal was not accepted: its piece is not stored')
    expect(refusals.map(({ dealId }) => dealId)).toEqual([String(unheld), String(resized)])
  })

  test('does not accept a piece whose bytes are not those that it took in', async () => {
    const harness = await startChainHarness({ version })
    const account = await harness.newProver()
    const [rotten, held] = [pieceOf(100_000, 1), pieceOf(100_000, 3)]
    const prover = await startWith(account, { pieces: [rotten, held] })
    const other = Buffer.from(rotten.bytes)
    other.writeUInt8(other.readUInt8(90_000) ^ 1, 90_000)
    await writeFile(join(prover.dir, 'pieces', rotten.pieceCid), other)
    const refused = await harness.propose(account.address, rotten, 2)
    await becomes(harness, await harness.propose(account.address, held, 2), 'active')
    await harness.mineSeconds(60)
    expect(await dealState(harness, refused)()).toBe('proposed')
  })

  test('gives no proof of a piece that is gone from its disk, so that anybody can slash the deal', async () => {
    const harness = await startChainHarness({ version })
    const account = await harness.newProver()
    const [lost, held] = [pieceOf(5000, 1), pieceOf(5000, 3)]
    const { lines, log } = readLog()
    const prover = await startWith(account, { pieces: [lost, held], log })
    const dealId = await harness.propose(account.address, lost, 20)
    const other = await harness.propose(account.address, held, 20)
    await harness.mineUntil(async () => (await harness.provenPeriods(dealId)) === 2)
    const escrowed = await harness.balanceOf(harness.client)
    await rm(join(prover.dir, 'pieces', lost.pieceCid))
    await harness.mineSeconds(4 * PERIOD_SECONDS)
    await harness.slash(dealId)
    expect(await dealState(harness, dealId)()).toBe('slashed')
    expect(await harness.provenPeriods(dealId)).toBe(2)
    expect((await harness.balanceOf(harness.client)) - escrowed).toBe(18n * PAY_OF_PERIOD)
    // The slashing paid the prover what it had earned, and the other deal goes on.
    expect(await harness.balanceOf(account.address)).toBe(2n * PAY_OF_PERIOD)
    expect(await harness.deal(other)).toMatchObject({ missesInARow: 0 })
    expect(lines.filter(({ msg, dealId: id }) => msg.includes('its piece is gone') && id === '1')).toHaveLength(1)
  })

  test('waits for a chain that does not answer, says so once, and keeps the address to itself', async () => {
    const harness = await startChainHarness({ version })
    const account = await harness.newProver()
    const piece = pieceOf(700)
    let isDown = true
    const asked: string[] = []
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? '')
      if (isDown) return void response.writeHead(503).end('down for a while')
      void forwardTo(harness.rpcUrl, request, response)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void proxy.close())
    const secret = '/v2/the-key-of-somebody'
    const rpcUrl = new SecretString(`http://127.0.0.1:${portOf(proxy)}${secret}`)
    const { lines, log } = readLog()
    await startWith({ ...account, rpcUrl }, { pieces: [piece], log })
    const dealId = await harness.propose(account.address, piece, 2)
    await expect.poll(() => asked.length).toBeGreaterThan(3)
    isDown = false
    await becomes(harness, dealId, 'settled')
    const outages = lines.filter(({ msg }) => msg === 'the chain is not usable; retrying')
    expect(outages).toHaveLength(1)
    expect(outages[0]?.reason).toContain('HTTP request failed')
    expect(lines.some(({ msg }) => msg === 'the chain answers again')).toBe(true)
    expect(JSON.stringify(lines)).not.toContain(secret)
    expect(new Set(asked)).toEqual(new Set([secret]))
  })

  test('is not led to another address by the one that is configured', async () => {
    const harness = await startChainHarness({ version })
    let canaryCalls = 0
    const canary = createServer((_, response) => {
      canaryCalls += 1
      response.end()
    })
    const led: string[] = []
    const liar = createServer((request, response) => {
      led.push(request.method ?? '')
      response.writeHead(307, { location: `http://127.0.0.1:${portOf(canary)}/` }).end()
    })
    for (const server of [canary, liar]) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void server.close())
    }
    await startWith({ ...(await harness.newProver()), rpcUrl: new SecretString(`http://127.0.0.1:${portOf(liar)}/`) })
    await expect.poll(() => led.length).toBeGreaterThan(2)
    expect(canaryCalls).toBe(0)
  })

  test('replaces the transaction that a process before it left without a block', async () => {
    const harness = await startChainHarness({ version })
    const account = await harness.newProver()
    const piece = pieceOf(900)
    const prover = await startWith(account, { pieces: [piece] })
    const dealId = await harness.propose(account.address, piece, 2)
    const waiting = async () => (await harness.chain.getTxpoolStatus()).pending
    await expect.poll(waiting).toBe(1)
    await prover.close()
    await startWith(account, { dir: prover.dir })
    await becomes(harness, dealId, 'settled')
    // Accepted; a challenge and a proof for each of two periods; settled.
    expect(await harness.transactionsOf(account.address)).toBe(6)
  })
})

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
