import { describe, expect, test } from 'vitest'
import { type ChainHarness, startChainHarness } from '../testing/chain-harness.ts'
import { holdPieces, metricOf, readLog, startFollowingProver } from '../testing/following-prover.ts'
import { pieceOf, type TestPiece } from '../testing/harness.ts'
import { sentBy } from '../testing/sent-transactions.ts'
import type { ChainLimits } from './chain-limits.ts'

const isFull = process.env.LADE_TEST_PLAN === 'full'
/** A period has far fewer blocks than there are deals: each is ten seconds of the chain. */
const { deals: DEALS, blocks: PERIOD_BLOCKS } = isFull ? { deals: 600, blocks: 60 } : { deals: 60, blocks: 30 }
const PERIOD_SECONDS = 10 * PERIOD_BLOCKS
const PERIODS = 6
const PROVED_PERIODS = 3
const IN_ONE_BLOCK = 50

/** Deals that are accepted, and a prover that begins to follow them when all are due. */
async function startBacklog(deals: number, limits: Partial<ChainLimits> = {}) {
  const harness = await startChainHarness({ periodSeconds: PERIOD_SECONDS, windowSeconds: 100_000 })
  const account = await harness.newProver()
  const pieces = [1, 3, 5, 7].map((seed) => pieceOf(2000, seed))
  const proposals = Array.from({ length: deals }, (_, index) =>
    harness.proposal(account.address, pieces[index % pieces.length] ?? pieceOf(2000), PERIODS),
  )
  for (let start = 0; start < deals; start += IN_ONE_BLOCK) {
    await harness.proposeMany(proposals.slice(start, start + IN_ONE_BLOCK))
  }
  await harness.acceptAs(account, deals)
  const accepted = await harness.transactionsOf(account.address)
  const { lines, log } = readLog()
  const prover = await startFollowingProver({ ...account, limits }, { dir: await holdPieces(pieces), log })
  const sent = async () => (await sentBy(harness, account.address)).slice(accepted)
  return { harness, prover, lines, sent }
}

async function proveUntil(harness: ChainHarness, proofs: number): Promise<void> {
  const isDone = async () => (await harness.countEvents('PeriodProven')) >= proofs
  await harness.mineUntil(isDone)
}

describe('a prover with a backlog, of a contract that serves many deals a transaction', () => {
  test(`proves ${DEALS} deals in every period of ${PERIOD_BLOCKS} blocks`, { timeout: 600_000 }, async () => {
    const { harness, prover, lines, sent } = await startBacklog(DEALS)
    await proveUntil(harness, PROVED_PERIODS * DEALS)
    expect(await harness.countEvents('PeriodProven')).toBe(PROVED_PERIODS * DEALS)
    expect(await harness.countEvents('PeriodMissed')).toBe(0)
    expect(await metricOf(prover.url, 'lade_prover_lapsed_challenges_total')).toBe(0)
    const warnings = lines.filter(({ level, msg }) => level > 30 && !msg.startsWith('LADE_PROVER_USDC_PER_COIN'))
    expect(warnings).toEqual([])

    const transactions = await sent()
    const names = transactions.map(({ functionName }) => functionName)
    expect(names).toEqual(expect.arrayContaining(['openMany', 'proveMany']))
    // A quarter of a block takes about 20 of these proofs.
    expect(transactions.length).toBeLessThan((PROVED_PERIODS * DEALS) / 10)
    report(`${DEALS} deals, ${PROVED_PERIODS} periods`, transactions, PROVED_PERIODS * DEALS)
  })

  test('sends a transaction for each deal when its gas allows no more', { timeout: 120_000 }, async () => {
    const deals = 6
    const { harness, sent } = await startBacklog(deals, { mostGasForMany: 1n })
    await proveUntil(harness, deals)
    const transactions = await sent()
    expect(transactions.map(({ functionName }) => functionName)).toEqual([
      ...Array.from({ length: deals }, () => 'openChallenge'),
      ...Array.from({ length: deals }, () => 'prove'),
    ])
    report(`${deals} deals, one period, one by one`, transactions, deals)
  })
})

describe('a batch whose gas was expected to be less', () => {
  test('is sent in parts that keep to the limit', { timeout: 120_000 }, async () => {
    const mostGasForMany = 500_000n
    const harness = await startChainHarness({ periodSeconds: 1000, windowSeconds: 10_000 })
    const account = await harness.newProver()
    const pieces = [pieceOf(127), pieceOf(2_000_000)]
    const deals = (piece: TestPiece) => Array.from({ length: 8 }, () => harness.proposal(account.address, piece, 2))
    await harness.proposeMany(pieces.flatMap(deals))
    await harness.acceptAs(account, 16)
    await startFollowingProver({ ...account, limits: { mostGasForMany } }, { dir: await holdPieces(pieces) })
    await proveUntil(harness, 16)
    expect(await harness.countEvents('PeriodMissed')).toBe(0)
    const batches = (await sentBy(harness, account.address)).filter((sent) => sent.functionName === 'proveMany')
    expect(batches.length).toBeGreaterThan(2)
    expect(batches.every(({ gas, gasUsed }) => gasUsed <= gas && gas <= mostGasForMany)).toBe(true)
  })
})

describe('a deal of a batch that the chain leaves out', () => {
  test('does not hold up the others, and is asked about alone from then on', async () => {
    const harness = await startChainHarness()
    const account = await harness.newProver()
    const piece = pieceOf(2000)
    const { lines, log } = readLog()
    const [short, long] = [harness.proposal(account.address, piece, 1), harness.proposal(account.address, piece, 9)]
    await harness.proposeMany([short, ...Array.from({ length: 9 }, () => long)])
    await harness.acceptAs(account, 1)
    await harness.chain.increaseTime({ seconds: 60 })
    await harness.acceptAs(account, 9, 2)
    await startFollowingProver(account, { dir: await holdPieces([piece]), log })
    await expect.poll(async () => (await harness.chain.getTxpoolStatus()).pending).toBe(1)
    // The term of the short one is over before the transaction gets its block, and the others' first period is not.
    await harness.chain.increaseTime({ seconds: 40 })
    await harness.mineUntil(async () => (await harness.countEvents('PeriodProven')) === 3 * 9)
    expect(lines.filter(({ reason }) => reason === 'openMany: DealOver').map(({ dealId }) => dealId)).toEqual(['1'])
    expect(await harness.deal(10n)).toMatchObject({ state: 2, misses: 0 })
  })
})

/** What the documentation says about batches is taken from here. */
function report(what: string, transactions: readonly { readonly gasUsed: bigint }[], proved: number): void {
  const gas = transactions.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
  console.info(`${what}: ${transactions.length} transactions, ${gas / BigInt(proved)} gas per proved period`)
}
