import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { PAY_OF_PERIOD, startChainHarness } from '../testing/chain-harness.ts'
import { holdPieces, metricOf, readLog, startFollowingProver } from '../testing/following-prover.ts'
import { pieceOf } from '../testing/harness.ts'

const isFull = process.env.LADE_TEST_PLAN === 'full'
/** With fewer deals, each transaction has more blocks to itself, so that the backlog is longer than a challenge lasts all the same. */
const { deals: DEALS, blocksBetween: BLOCKS_BETWEEN } = isFull
  ? { deals: 600, blocksBetween: 0 }
  : { deals: 40, blocksBetween: 12 }
/** The whole plan has the prover accept all of them, too, between the challenges and proofs of their first period. */
const ROUNDS = isFull ? 2 : 1
const PERIOD_SECONDS = 20_000
const PERIODS = 20
const QUIET_MS = isFull ? 500 : 10
const GIVEN_UP_MS = 10_000
const IN_ONE_BLOCK = 75

describe('a prover with a backlog, of a contract that serves one deal a transaction', () => {
  test(`answers every challenge of ${DEALS} deals that are proposed, and later due, all at once`, {
    timeout: 900_000,
  }, async () => {
    const harness = await startChainHarness({
      version: 1,
      periodSeconds: PERIOD_SECONDS,
      windowSeconds: PERIOD_SECONDS,
    })
    const { chain } = harness
    const account = await harness.newProver()
    const pieces = [1, 3, 5, 7].map((seed) => pieceOf(2000, seed))
    const proposals = Array.from({ length: DEALS }, (_, index) =>
      harness.proposal(account.address, pieces[index % pieces.length] ?? pieceOf(2000), PERIODS),
    )
    for (let start = 0; start < DEALS; start += IN_ONE_BLOCK) {
      await harness.proposeMany(proposals.slice(start, start + IN_ONE_BLOCK))
    }
    // From here on they are due, all in the same block.
    if (!isFull) await harness.acceptAs(account, DEALS)
    await chain.setAutomine(true)
    // Its pieces are there before it looks at the chain.
    const { lines, log } = readLog()
    const prover = await startFollowingProver({ ...account, pollMs: 5 }, { dir: await holdPieces(pieces), log })

    let seen = await harness.transactionsOf(account.address)
    /** Blocks of others come after each of the prover's, and the last challenge needs one. */
    const mineUntilSent = async (transactions: number) => {
      for (let quietAt = performance.now(); seen < transactions; ) {
        await delay(QUIET_MS)
        const sent = await harness.transactionsOf(account.address)
        if (sent > seen) quietAt = performance.now()
        // Whatever is left will not come any more.
        else if (performance.now() - quietAt > GIVEN_UP_MS) return
        const blocks = sent > seen ? (sent - seen) * BLOCKS_BETWEEN : 1
        if (blocks > 0) await chain.mine({ blocks })
        seen = sent
      }
    }
    const ids = proposals.map((_, index) => BigInt(index + 1))
    const dealsNow = () => Promise.all(ids.map((dealId) => harness.deal(dealId)))
    if (isFull) {
      // Accepted, challenged, proven.
      await mineUntilSent(3 * DEALS)
      expect(await harness.countEvents('DealAccepted')).toBe(DEALS)
      const begins = Math.max(...(await dealsNow()).map(({ accountedUntil }) => accountedUntil))
      await chain.setNextBlockTimestamp({ timestamp: BigInt(begins) })
      await chain.mine({ blocks: 1 })
    }
    const before = await chain.getBlockNumber()
    await mineUntilSent((1 + 2 * ROUNDS) * DEALS)
    expect(lines.filter(({ level }) => level > 40)).toEqual([])
    expect((await chain.getBlockNumber()) - before).toBeGreaterThan(2 * 256)

    expect(await harness.countEvents('PeriodProven')).toBe(ROUNDS * DEALS)
    expect(await harness.countEvents('PeriodMissed')).toBe(0)
    expect(await harness.countEvents('ChallengeOpened')).toBe(ROUNDS * DEALS)
    expect(await metricOf(prover.url, 'lade_prover_lapsed_challenges_total')).toBe(0)
    await expect
      .poll(() => metricOf(prover.url, 'lade_prover_transactions_total{call="prove",outcome="landed"}'))
      .toBe(ROUNDS * DEALS)
    const earned = (await dealsNow()).map((deal) => deal.earned)
    expect(new Set(earned)).toEqual(new Set([BigInt(ROUNDS) * PAY_OF_PERIOD]))
  })
})
