import { type Hex, parseSignature } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dealSteps } from './testing/deal-steps.ts'
import { type Actor, type Fixture, openFixture, PERIOD } from './testing/marketplace-fixture.ts'

const FIRST_DEAL_ID = 700_001n

let fixture: Fixture
let client: Actor
let prover: Actor
let stranger: Actor
beforeAll(async () => {
  fixture = await openFixture({ firstDealId: FIRST_DEAL_ID })
  client = fixture.client1
  prover = fixture.prover
  stranger = fixture.stranger
})
afterAll(() => fixture.stop())

const { termsOf, propose, activeDeal, provePeriod, gainOf } = dealSteps(() => fixture)

function read(functionName: 'dealsOfClient' | 'dealsOfProver', args: readonly [Hex, bigint, bigint]) {
  return fixture.client.readContract({ ...fixture.marketplaceCall, functionName, args })
}

describe('deals', () => {
  it('are numbered from the number that the contract was deployed with', async () => {
    expect(await fixture.lastDealId()).toBe(FIRST_DEAL_ID - 1n)
    expect(await propose()).toBe(FIRST_DEAL_ID)
    await expect(fixture.deal(FIRST_DEAL_ID - 1n)).resolves.toMatchObject({ state: 0, pieceSize: 0n })
    const version = { ...fixture.marketplaceCall, functionName: 'VERSION' } as const
    await expect(fixture.client.readContract(version)).resolves.toBe(2n)
  })

  it('are listed by client and by prover, newest first and in pages', async () => {
    const ids: bigint[] = []
    for (let count = 0; count < 5; count += 1) ids.push(await propose({ prover: stranger.address }))
    const newestFirst = ids.toReversed()
    await expect(read('dealsOfProver', [stranger.address, 0n, 2n])).resolves.toEqual(newestFirst.slice(0, 2))
    await expect(read('dealsOfProver', [stranger.address, newestFirst[1] ?? 0n, 10n])).resolves.toEqual(
      newestFirst.slice(2),
    )
    await expect(read('dealsOfProver', [stranger.address, ids[0] ?? 0n, 10n])).resolves.toEqual([])
    await expect(read('dealsOfClient', [client.address, 0n, 5n])).resolves.toEqual(newestFirst)
    await expect(read('dealsOfClient', [stranger.address, 0n, 5n])).resolves.toEqual([])
    // A page begins after a deal of the same list, or is empty.
    await expect(read('dealsOfClient', [stranger.address, ids[3] ?? 0n, 5n])).resolves.toEqual([])
    await expect(read('dealsOfProver', [prover.address, ids[3] ?? 0n, 5n])).resolves.toEqual([])
    await expect(read('dealsOfClient', [client.address, 0n, 0n])).resolves.toEqual([])
  })

  it('add up to what the contract holds', async () => {
    const dealId = await activeDeal({ duration: 4n * BigInt(PERIOD), totalPayment: 4_000n, bond: 100n })
    await client.send('extendDeal', [dealId, 1_000n, 7n])
    await provePeriod(dealId)
    await fixture.passSeconds(2 * PERIOD)
    // What was missed is accounted for, and not paid.
    await prover.send('openChallenge', [dealId])
    const totals = { ...fixture.marketplaceCall, functionName: 'totals' } as const
    await expect(fixture.client.readContract({ ...totals, args: [dealId, dealId] })).resolves.toEqual({
      ...{ escrowed: 2_007n, earned: 1_000n, refundable: 1_000n, bonded: 90n, forfeited: 10n },
    })
    const all = await fixture.client.readContract({ ...totals, args: [FIRST_DEAL_ID - 3n, dealId + 3n] })
    const owed = Object.values(all).reduce((sum: bigint, amount) => sum + amount, 0n)
    expect(owed).toBe(await fixture.balance(fixture.marketplace))
  })
})

describe('proposeDealsWithPermit', () => {
  const owner = mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: 1 })
  const deadline = 2n ** 40n

  async function permitOf(value: bigint) {
    const nonce = await fixture.client.readContract({
      ...fixture.usdcCall,
      functionName: 'nonces',
      args: [owner.address],
    })
    const types = ['owner:address', 'spender:address', 'value:uint256', 'nonce:uint256', 'deadline:uint256']
    const signature = await owner.signTypedData({
      domain: { name: 'USD Coin', version: '1', chainId: fixture.chainId, verifyingContract: fixture.usdc },
      types: { Permit: types.map((field) => ({ name: field.split(':')[0] ?? '', type: field.split(':')[1] ?? '' })) },
      primaryType: 'Permit',
      message: { owner: owner.address, spender: fixture.marketplace, value, nonce, deadline },
    })
    const { r, s, yParity } = parseSignature(signature)
    return { v: 27 + yParity, r, s }
  }
  const allowance = () =>
    fixture.client.readContract({
      ...fixture.usdcCall,
      functionName: 'allowance',
      args: [owner.address, fixture.marketplace],
    })
  const fromOwner = async (functionName: 'approve', args: readonly [Hex, bigint]) => {
    await fixture.client.writeContract({ ...fixture.usdcCall, account: owner, functionName, args })
    await fixture.mine(1)
  }

  it('takes the pay with an allowance that was signed for it', async () => {
    await fromOwner('approve', [fixture.marketplace, 0n])
    const { v, r, s } = await permitOf(30n)
    const proposals = [termsOf({ totalPayment: 10n }), termsOf({ totalPayment: 20n })]
    const gain = await gainOf(client.address, () =>
      client.send('proposeDealsWithPermit', [proposals, 30n, deadline, v, r, s]),
    )
    expect(gain).toBe(-30n)
    expect(await allowance()).toBe(0n)
  })

  it('does not fail because somebody sent the permit before', async () => {
    const { v, r, s } = await permitOf(30n)
    const args = [owner.address, fixture.marketplace, 30n, deadline, v, r, s] as const
    const account = mnemonicToAccount('test test test test test test test test test test test junk', {
      addressIndex: 3,
    })
    await fixture.client.writeContract({ ...fixture.usdcCall, account, functionName: 'permit', args })
    await fixture.mine(1)
    expect(await allowance()).toBe(30n)
    const proposals = [termsOf({ totalPayment: 30n })]
    await client.send('proposeDealsWithPermit', [proposals, 30n, deadline, v, r, s])
    expect(await allowance()).toBe(0n)
  })

  it('fails as a whole without an allowance that is enough', async () => {
    const { v, r, s } = await permitOf(29n)
    const proposals = [termsOf({ totalPayment: 30n })]
    const before = await fixture.lastDealId()
    const receipt = await client.attempt('proposeDealsWithPermit', [proposals, 29n, deadline, v, r, s])
    expect(receipt.status).toBe('reverted')
    const late = await client.attempt('proposeDealsWithPermit', [proposals, 30n, 1n, v, r, s])
    expect(late.status).toBe('reverted')
    expect(await fixture.lastDealId()).toBe(before)
    await expect(client.refusal('proposeDealsWithPermit', [[], 0n, deadline, v, r, s])).resolves.toEqual({
      ...{ name: 'NoProposals', args: [] },
    })
  })
})
