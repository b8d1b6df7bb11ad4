import { type Address, type ContractFunctionArgs, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { compileSources } from '../compile.ts'
import { marketplaceAbi } from './contracts.ts'
import { dealSteps } from './testing/deal-steps.ts'
import { HOSTILE_TOKEN } from './testing/hostile-token.ts'
import { type Fixture, openFixture, PERIOD } from './testing/marketplace-fixture.ts'
import { tokenAbi } from './testing/model/fuzz-chain.ts'

const account = mnemonicToAccount('test test test test test test test test test test test junk')
type TokenCall = 'freeze' | 'pause' | 'fail' | 'callBack'

let fixture: Fixture
beforeAll(async () => {
  const [token] = compileSources({ 'HostileToken.sol': HOSTILE_TOKEN })
  fixture = await openFixture({ token: token?.bytecode as Hex })
})
afterAll(() => fixture.stop())

const { activeDeal, propose, provePeriod, stateOf } = dealSteps(() => fixture)

function token() {
  return { address: fixture.usdc, abi: tokenAbi, account, chain: null } as const
}

async function tell<Name extends TokenCall>(
  functionName: Name,
  args: ContractFunctionArgs<typeof tokenAbi, 'nonpayable', Name>,
) {
  // biome-ignore lint/suspicious/noExplicitAny: viem cannot follow a name that is generic; the arguments are exact.
  await fixture.client.writeContract({ ...token(), functionName, args } as any)
  await fixture.mine(1)
}

const terms = { duration: 4n * BigInt(PERIOD), totalPayment: 4_000n, bond: 100n }

describe('payments', () => {
  let dealId: bigint
  /** One period is proven and one missed: 1,000 are the prover's, and 1,010 the client's. */
  beforeEach(async () => {
    dealId = await activeDeal(terms)
    await provePeriod(dealId)
    await fixture.passSeconds(2 * PERIOD)
  })

  it.each([
    ['client', 'reverts', false],
    ['client', 'answers false', true],
    ['prover', 'reverts', false],
    ['prover', 'answers false', true],
  ] as const)(
    'reach the other side where the %s cannot be paid (the token %s), and it later',
    async (side, _, isQuiet) => {
      const { client1, prover, stranger } = fixture
      const [frozen, other] = side === 'client' ? [client1, prover] : [prover, client1]
      const [own, others] = side === 'client' ? [1_010n, 1_000n] : [1_000n, 1_010n]
      const gainsOf = async (act: () => Promise<unknown>) => {
        const before = await Promise.all([fixture.balance(frozen.address), fixture.balance(other.address)])
        await act()
        const after = await Promise.all([fixture.balance(frozen.address), fixture.balance(other.address)])
        return after.map((balance, index) => balance - (before[index] ?? 0n))
      }
      await tell('fail', [isQuiet])
      await tell('freeze', [frozen.address, true])
      expect(await gainsOf(() => stranger.send('settle', [dealId]))).toEqual([0n, others])
      const deal = await fixture.deal(dealId)
      expect(side === 'client' ? deal.refundable + deal.forfeited : deal.earned).toBe(own)
      await expect(stranger.attempt('settle', [dealId])).resolves.toMatchObject({ status: 'success' })

      await fixture.passSeconds(10 * PERIOD)
      await stranger.send('slash', [dealId])
      await tell('freeze', [frozen.address, false])
      expect(await gainsOf(() => stranger.send('settle', [dealId]))).toEqual([side === 'client' ? 3_100n : own, 0n])
      await expect(stranger.refusal('settle', [dealId])).resolves.toMatchObject({ name: 'NothingToSettle' })
    },
  )

  it('wait while the token pauses everything; proofs and misses go on, and nothing is lost', async () => {
    const { client1, prover, stranger } = fixture
    await tell('pause', [true])
    await provePeriod(dealId)
    await stranger.send('settle', [dealId])
    await client1.send('endDeal', [dealId])
    await fixture.passSeconds(4 * PERIOD)
    await stranger.send('settle', [dealId])
    expect(await stateOf(dealId)).toBe('Settled')
    // Proved, missed, proved, and the period of the notice was missed.
    const owed = { earned: 2_000n, refundable: 2_000n, forfeited: 20n, bondLeft: 80n, remaining: 0n }
    await expect(fixture.deal(dealId)).resolves.toMatchObject(owed)
    await tell('pause', [false])
    const before = await Promise.all([fixture.balance(client1.address), fixture.balance(prover.address)])
    await stranger.send('settle', [dealId])
    const after = await Promise.all([fixture.balance(client1.address), fixture.balance(prover.address)])
    expect(after.map((balance, index) => balance - (before[index] ?? 0n))).toEqual([2_020n, 2_080n])
  })

  it.each(['settle', 'slash', 'withdrawDeal', 'endDeal', 'openChallenge'] as const)(
    'cannot be drawn twice by calling %s from inside one',
    async (functionName) => {
      const { client1, prover, stranger } = fixture
      // Another deal that is owed to both sides, so that a call that gets through would pay.
      const other = await activeDeal(terms)
      await fixture.passSeconds(PERIOD)
      const target = functionName === 'withdrawDeal' ? await propose(terms) : other
      const data = encodeFunctionData({ abi: marketplaceAbi, functionName, args: [target] })
      const read = (name: 'calls' | 'callsThatWorked') =>
        fixture.client.readContract({ ...token(), functionName: name })
      const callsBefore = await read('calls')
      await tell('callBack', [fixture.marketplace, data])
      const before = await fixture.balance(prover.address)
      await stranger.send('settle', [dealId])
      await provePeriod(dealId)
      await client1.send('extendDeal', [dealId, BigInt(PERIOD), 5n])
      await client1.send('endDeal', [dealId])
      await tell('callBack', [zeroAddress as Address, '0x'])
      // Two periods, and the bond without the two that were missed: the extension has begun.
      expect((await fixture.balance(prover.address)) - before).toBe(2_080n)
      expect((await read('calls')) - callsBefore).toBeGreaterThanOrEqual(4n)
      expect(await read('callsThatWorked')).toBe(0n)
    },
  )
})
