import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SecretString } from '@lade/node/settings'
import { type Hex, parseGwei } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ChainHarness, startChainHarness } from '../testing/chain-harness.ts'
import { holdPieces, metricOf, readLog, startFollowingProver } from '../testing/following-prover.ts'
import { pieceOf } from '../testing/harness.ts'
import { sentBy } from '../testing/sent-transactions.ts'

const YEAR_SECONDS = 365n * 86_400n
const PIECE = pieceOf(1000)

async function startHarness(version: 1 | 2 = 2) {
  const harness = await startChainHarness({ version })
  const account = await harness.newProver()
  return { harness, account, dir: await holdPieces([PIECE]) }
}

/** Makes blocks whose gas costs so much. */
async function mineAt(harness: ChainHarness, baseFeePerGas: bigint, blocks: number) {
  for (let count = 0; count < blocks; count += 1) {
    await harness.chain.setNextBlockBaseFeePerGas({ baseFeePerGas })
    await harness.mineSeconds(10)
  }
}

const healthOf = async (url: string) => (await (await fetch(`${url}/healthz`)).json()) as unknown

describe('what a prover refuses', () => {
  test('unpaid deals, deals of 100 years and of strangers cost it nothing', async () => {
    const { harness, account, dir } = await startHarness()
    const { lines, log } = readLog()
    const limits = { clients: [harness.client.toLowerCase()] }
    const prover = await startFollowingProver({ ...account, limits }, { dir, log })
    const good = harness.proposal(account.address, PIECE, 5)
    const unpaid = { ...good, totalPayment: 0n }
    await harness.proposeMany(Array.from({ length: 20 }, () => ({ ...unpaid, duration: 100n * YEAR_SECONDS })))
    await harness.proposeMany(Array.from({ length: 20 }, () => unpaid))
    await harness.mineSeconds(100)
    expect(await harness.transactionsOf(account.address)).toBe(0)
    expect(await metricOf(prover.url, 'lade_prover_refused_deals_total{reason="term"}')).toBe(20)
    expect(await metricOf(prover.url, 'lade_prover_refused_deals_total{reason="price"}')).toBe(20)
    const refusals = lines.filter(({ msg }) => msg.startsWith('deals were not accepted'))
    expect(refusals.map(({ reason, count }) => ({ reason, count }))).toEqual([
      { reason: 'term', count: 20 },
      { reason: 'price', count: 20 },
    ])
    const paid = await harness.proposeMany([good])
    await harness.mineUntil(async () => (await harness.provenPeriods(paid)) > 0)
    expect(await harness.countEvents('DealAccepted')).toBe(1)
    await prover.close()

    const picky = await startFollowingProver({ ...account, limits: { clients: [account.address.toLowerCase()] } })
    await harness.proposeMany([good])
    await harness.mineSeconds(50)
    expect(await metricOf(picky.url, 'lade_prover_refused_deals_total{reason="client"}')).toBe(41)
    expect(await harness.countEvents('DealAccepted')).toBe(1)
  })

  test('sends nothing while gas costs more than the cap, says so, and goes on afterwards', async () => {
    const { harness, account, dir } = await startHarness()
    const { lines, log } = readLog()
    const prover = await startFollowingProver(account, { dir, log })
    const dealId = await harness.proposeMany([harness.proposal(account.address, PIECE, 30)])
    await harness.mineUntil(async () => (await harness.provenPeriods(dealId)) === 1)
    const [sent, balance] = [
      await harness.transactionsOf(account.address),
      await harness.chain.getBalance({ address: account.address }),
    ]
    await mineAt(harness, parseGwei('20000'), 15)
    expect(await harness.transactionsOf(account.address)).toBe(sent)
    expect(await harness.chain.getBalance({ address: account.address })).toBe(balance)
    expect(await healthOf(prover.url)).toMatchObject({
      status: 'ok',
      chain: { state: 'fees_too_high', waitingCalls: 1 },
    })
    expect(await metricOf(prover.url, 'lade_prover_following{state="fees_too_high"}')).toBe(1)
    expect(await metricOf(prover.url, 'lade_prover_fee_wei')).toBeGreaterThan(1.9e13)
    const said = (start: string) => lines.filter(({ msg }) => msg.startsWith(start)).length
    expect(said('transactions wait: gas costs more than LADE_PROVER_FEE_CAP_GWEI')).toBe(1)

    await mineAt(harness, parseGwei('1'), 1)
    await harness.mineUntil(async () => (await harness.provenPeriods(dealId)) >= 2)
    expect(said('transactions are sent again')).toBe(1)
    expect(await healthOf(prover.url)).toMatchObject({ chain: { state: 'following' } })
    const fees = await feesOf(harness, account.address)
    expect(Math.max(...fees)).toBeLessThanOrEqual(500e9)
  })

  test('waits for a transaction that is in its way and offers as much as it may offer itself', async () => {
    const { harness, account, dir } = await startHarness()
    const mostWeiPerGas = parseGwei('3')
    const dealId = await harness.proposeMany([harness.proposal(account.address, PIECE, 10)])
    await harness.chain.sendTransaction({
      account: privateKeyToAccount(account.privateKey.reveal() as Hex),
      to: account.address,
      nonce: 0,
      gas: 21_000n,
      maxFeePerGas: mostWeiPerGas,
      maxPriorityFeePerGas: mostWeiPerGas,
      chain: null,
    })
    const prover = await startFollowingProver({ ...account, limits: { mostWeiPerGas } }, { dir })
    await expect.poll(() => healthOf(prover.url)).toMatchObject({ chain: { state: 'fees_too_high' } })
    await harness.mineUntil(async () => (await harness.provenPeriods(dealId)) === 1)
    expect(await healthOf(prover.url)).toMatchObject({ chain: { state: 'following' } })
    expect(Math.max(...(await feesOf(harness, account.address)))).toBe(Number(mostWeiPerGas))
  })

  test('proves a deal only while its pay covers the gas of its proofs, where it knows the price of a coin', async () => {
    const { harness, account, dir } = await startHarness()
    const { lines, log } = readLog()
    // A proof costs about 0.0001 coins at 1 gwei, and a period pays 0.001 USDC.
    const limits = { microUsdcPerCoin: 1_000_000n }
    const prover = await startFollowingProver({ ...account, limits }, { dir, log })
    const dealId = await harness.proposeMany([harness.proposal(account.address, PIECE, 30)])
    await harness.mineUntil(async () => (await harness.provenPeriods(dealId)) === 1)
    const sent = await harness.transactionsOf(account.address)
    await mineAt(harness, parseGwei('100'), 13)
    expect(await harness.transactionsOf(account.address)).toBe(sent)
    expect(await metricOf(prover.url, 'lade_prover_deals_below_gas')).toBe(1)
    expect(lines.filter(({ msg }) => msg === 'a deal is not proved: gas costs more than it pays')).toHaveLength(1)
    // A new one is not even accepted.
    await harness.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('100') })
    const later = await harness.proposeMany([harness.proposal(account.address, PIECE, 30)])
    await mineAt(harness, parseGwei('100'), 3)
    expect(await harness.deal(later)).toMatchObject({ state: 1 })

    await mineAt(harness, parseGwei('1'), 1)
    await harness.mineUntil(async () => (await harness.provenPeriods(dealId)) >= 2)
    await harness.mineUntil(async () => (await harness.provenPeriods(later)) >= 1)
  })

  test('does not start with a node of another chain, and leaves nothing open', async () => {
    const { account, dir } = await startHarness()
    await expect(startFollowingProver({ ...account, limits: { chainId: 1 } }, { dir })).rejects.toMatchObject({
      name: 'ConfigError',
      message: 'The node is on chain 31337, but LADE_PROVER_CHAIN_ID is 1.',
    })
    await startFollowingProver({ ...account, limits: { chainId: 31_337 } }, { dir })
  })
})

describe('a challenge that lapsed while the prover was down', () => {
  test('is opened again in its period if the contract lets it, and the next period is proved as ever', async () => {
    const periodSeconds = 5000
    const harness = await startChainHarness({ version: 1, periodSeconds })
    const account = await harness.newProver()
    const { lines, log } = readLog()
    const dir = await holdPieces([PIECE])
    const first = await startFollowingProver(account, { dir })
    const dealId = await harness.proposeMany([harness.proposal(account.address, PIECE, 4)])
    await harness.mineUntil(async () => (await harness.countEvents('ChallengeOpened')) === 1)
    // More than a challenge lasts, with the prover down.
    await first.close()
    await harness.chain.mine({ blocks: 300 })
    const prover = await startFollowingProver(account, { dir, log })
    const sent = await harness.transactionsOf(account.address)
    await harness.mineSeconds(50)
    expect(await metricOf(prover.url, 'lade_prover_lapsed_challenges_total')).toBe(1)
    expect(lines.filter(({ reason }) => reason === 'openChallenge: ChallengeAlreadyOpen')).toHaveLength(1)
    expect(await harness.transactionsOf(account.address)).toBe(sent)
    await harness.chain.increaseTime({ seconds: periodSeconds })
    await harness.mineUntil(async () => (await harness.provenPeriods(dealId)) === 1)
    expect(await harness.countEvents('PeriodMissed')).toBe(1)
  })
})

describe('a chain without a base fee, whose node has no block 0', () => {
  test.each([1, 2] as const)('is followed with transactions of the old kind, by version %i', async (version) => {
    const { harness, account, dir } = await startHarness(version)
    const rpcUrl = await startOldNode(harness.rpcUrl)
    const first = await startFollowingProver({ ...account, rpcUrl: new SecretString(rpcUrl) }, { dir })
    const dealId = await harness.proposeMany([harness.proposal(account.address, PIECE, 3)])
    await harness.mineUntil(async () => (await harness.provenPeriods(dealId)) === 1)
    await first.close()
    const second = await startFollowingProver({ ...account, rpcUrl: new SecretString(rpcUrl) }, { dir })
    await harness.mineUntil(async () => (await harness.deal(dealId)).state === 3)
    expect(await harness.provenPeriods(dealId)).toBe(3)
    expect(new Set(await typesOf(harness, account.address))).toEqual(new Set(['legacy']))
    expect(await healthOf(second.url)).toMatchObject({ chain: { state: 'following' } })
  })
})

/** A node that says of no base fee what the next block costs, and has thrown its first block away. */
async function startOldNode(target: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const server = createServer(async (request, response) => {
    try {
      const asked: { id: number; method: string; params: unknown[] } | { id: number; method: string }[] = JSON.parse(
        await text(request),
      )
      const refused = [asked].flat().find((each) => /maxPriorityFeePerGas|feeHistory/.test(each.method))
      const isFirstBlock = JSON.stringify(asked).includes('"params":["0x0",')
      if (refused !== undefined || isFirstBlock) return void response.writeHead(500, headers).end('{}')
      const answer = await fetch(target, { method: 'POST', body: JSON.stringify(asked), headers })
      const answered = await answer.text()
      // Older blocks keep it: it is part of what their hashes are of.
      const isNewest = JSON.stringify(asked).includes('"latest"')
      const body = isNewest ? answered.replaceAll(/"baseFeePerGas":"0x[0-9a-f]+",?/g, '') : answered
      response.writeHead(200, headers).end(body)
    } catch {
      response.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function typesOf(harness: ChainHarness, address: string) {
  return (await sentBy(harness, address)).map(({ type }) => type)
}

async function feesOf(harness: ChainHarness, address: string) {
  return (await sentBy(harness, address)).map(({ maxFeePerGas }) => Number(maxFeePerGas))
}
