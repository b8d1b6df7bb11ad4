import { parseEventLogs, type TransactionReceipt, zeroHash } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { challengedLeaves } from './challenge/challenge.ts'
import { marketplaceAbi } from './contracts.ts'
import { dealSteps } from './testing/deal-steps.ts'
import { errorNameOf } from './testing/error-selectors.ts'
import { type Actor, type Fixture, openFixture, PERIOD } from './testing/marketplace-fixture.ts'

let fixture: Fixture
let prover: Actor
let stranger: Actor
beforeAll(async () => {
  fixture = await openFixture()
  prover = fixture.prover
  stranger = fixture.stranger
})
afterAll(() => fixture.stop())

const { piece, propose, activeDeal, accept, provePeriod } = dealSteps(() => fixture)
const terms = { duration: 5n * BigInt(PERIOD), totalPayment: 5_000n }

/** Which deals a batch skipped, and the names of the errors that it gives as reasons. */
function skippedIn({ logs }: TransactionReceipt) {
  return parseEventLogs({ abi: marketplaceAbi, eventName: 'Skipped', logs }).map(({ args }) => [
    args.dealId,
    errorNameOf(args.reason),
  ])
}

function provenIn({ logs }: TransactionReceipt): bigint[] {
  return parseEventLogs({ abi: marketplaceAbi, eventName: 'PeriodProven', logs }).map(({ args }) => args.dealId)
}

describe('openMany', () => {
  it('opens what can be opened, and says why it skipped the rest', async () => {
    const slashed = await activeDeal(terms)
    await fixture.passSeconds(3 * PERIOD)
    const [good, open, proven, other] = [
      await activeDeal(terms),
      await activeDeal(terms),
      await activeDeal(terms),
      await propose({ ...terms, prover: stranger.address }),
    ]
    await accept(other, stranger)
    await prover.send('openChallenge', [open])
    await provePeriod(proven)
    const proposed = await propose()
    const last = await activeDeal(terms)
    const receipt = await prover.send('openMany', [
      [good, open, proven, other, proposed, 2n ** 99n, slashed, good, last],
    ])
    expect(skippedIn(receipt)).toEqual([
      [open, 'ChallengeAlreadyOpen'],
      [proven, 'AlreadyProven'],
      [other, 'NotProver'],
      [proposed, 'WrongState'],
      [2n ** 99n, 'WrongState'],
      [slashed, 'WrongState'],
      [good, 'ChallengeAlreadyOpen'],
    ])
    const opened = parseEventLogs({ abi: marketplaceAbi, eventName: 'ChallengeOpened', logs: receipt.logs })
    expect(opened.map(({ args }) => args.dealId)).toEqual([good, last])
    // The three missed periods of the deal are accounted for on the way.
    expect((await fixture.deal(slashed)).state).toBe(4)
  })

  it('takes none', async () => {
    expect((await prover.send('openMany', [[]])).logs).toEqual([])
  })
})

describe('proveMany', () => {
  it('proves what is right, and says why it skipped the rest', async () => {
    const ids = [
      await activeDeal(terms),
      await activeDeal(terms),
      await activeDeal(terms),
      await activeDeal(terms),
    ] as const
    const [first, wrong, unopened, last] = ids
    await prover.send('openMany', [[first, wrong, last]])
    const [, header, nodes] = await fixture.proofOf(first, piece)
    const ofLast = await fixture.nodesOf(last, piece)
    const other = await propose({ ...terms, prover: stranger.address })
    await accept(other, stranger)
    const receipt = await prover.send('proveMany', [
      [header, '0x'],
      [
        { dealId: wrong, header: 0n, nodes },
        { dealId: first, header: 0n, nodes },
        { dealId: unopened, header: 0n, nodes },
        { dealId: other, header: 0n, nodes },
        { dealId: first, header: 0n, nodes },
        { dealId: wrong, header: 1n, nodes },
        { dealId: wrong, header: 2n, nodes },
        { dealId: wrong, header: 2n ** 255n, nodes },
        { dealId: wrong, header: 0n, nodes: [] },
        { dealId: last, header: 0n, nodes: ofLast },
      ],
    ])
    expect(skippedIn(receipt)).toEqual([
      [wrong, 'InvalidProof'],
      [unopened, 'ChallengeNotOpen'],
      [other, 'NotProver'],
      [first, 'AlreadyProven'],
      [wrong, 'InvalidHeader'],
      [wrong, 'InvalidHeader'],
      [wrong, 'InvalidHeader'],
      [wrong, 'InvalidProof'],
    ])
    expect(provenIn(receipt)).toEqual([first, last])
    await expect(fixture.deal(wrong)).resolves.toMatchObject({ earned: 0n, period: 0 })
  })

  it('does not take a proof by a seed of nothing for a challenge that is not open', async () => {
    const dealId = await activeDeal(terms)
    const { period, leafCount } = await fixture.deal(dealId)
    const leaves = challengedLeaves({ seed: zeroHash, dealId, period, leafCount })
    const nodes = (await Promise.all(leaves.map((leaf) => piece.nodesOf(leaf)))).flat()
    for (const headers of [[], ['0x'], [await fixture.headerOf(await fixture.client.getBlockNumber())]] as const) {
      const receipt = await prover.send('proveMany', [headers, [{ dealId, header: 0n, nodes }]])
      expect(provenIn(receipt)).toEqual([])
      expect(skippedIn(receipt)).toEqual([[dealId, 'ChallengeNotOpen']])
    }
  })

  it('reads the header of each deal that was opened in another block', async () => {
    const [early, late] = [await activeDeal(terms), await activeDeal(terms)]
    await prover.send('openChallenge', [early])
    await prover.send('openChallenge', [late])
    const [, lateHeader, ofLate] = await fixture.proofOf(late, piece)
    const [, earlyHeader, ofEarly] = await fixture.proofOf(early, piece)
    // Both name the header of the later one: the earlier deal is not proven by it.
    const mixed = await prover.send('proveMany', [
      [lateHeader],
      [
        { dealId: late, header: 0n, nodes: ofLate },
        { dealId: early, header: 0n, nodes: ofEarly },
      ],
    ])
    expect(provenIn(mixed)).toEqual([late])
    expect(skippedIn(mixed)).toEqual([[early, 'InvalidHeader']])
    const receipt = await prover.send('proveMany', [
      [lateHeader, earlyHeader],
      [{ dealId: early, header: 1n, nodes: ofEarly }],
    ])
    expect(provenIn(receipt)).toEqual([early])
  })
})
