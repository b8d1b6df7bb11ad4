import { parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { marketplaceAbi } from './contracts.ts'
import { dealSteps } from './testing/deal-steps.ts'
import { type Actor, type Fixture, openFixture, PERIOD } from './testing/marketplace-fixture.ts'

let fixture: Fixture
let client: Actor
let prover: Actor
let stranger: Actor
beforeAll(async () => {
  fixture = await openFixture()
  client = fixture.client1
  prover = fixture.prover
  stranger = fixture.stranger
})
afterAll(() => fixture.stop())

const { propose, activeDeal, provePeriod, stateOf, gainOf } = dealSteps(() => fixture)
const terms = { duration: 10n * BigInt(PERIOD), totalPayment: 10_000n, bond: 500n }

async function endingOf(dealId: bigint) {
  const receipt = await client.send('endDeal', [dealId])
  const [event] = parseEventLogs({ abi: marketplaceAbi, eventName: 'DealEnding', logs: receipt.logs })
  return event?.args
}

describe('endDeal', () => {
  it('withdraws what nobody accepted', async () => {
    const dealId = await propose(terms)
    expect(await gainOf(client.address, () => client.send('endDeal', [dealId]))).toBe(10_000n)
    expect(await stateOf(dealId)).toBe('Withdrawn')
  })

  it('leaves the current period and the one after it, paid as agreed, and gives the rest back at once', async () => {
    const dealId = await activeDeal(terms)
    const { since } = await fixture.deal(dealId)
    expect(await gainOf(client.address, () => client.send('endDeal', [dealId]))).toBe(8_000n)
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ isEnding: true, state: 2, remaining: 2_000n })
    const question = { ...fixture.marketplaceCall, functionName: 'endsAt', args: [dealId] as const } as const
    await expect(fixture.client.readContract(question)).resolves.toBe(BigInt(since + 2 * PERIOD))
    await provePeriod(dealId)
    await fixture.passSeconds(PERIOD)
    await provePeriod(dealId)
    await fixture.passSeconds(PERIOD)
    expect(await gainOf(prover.address, () => stranger.send('settle', [dealId]))).toBe(2_500n)
    expect(await stateOf(dealId)).toBe('Settled')
  })

  it('leaves one whole period after the current one if that is proven already', async () => {
    const dealId = await activeDeal(terms)
    await provePeriod(dealId)
    const { since } = await fixture.deal(dealId)
    expect(await endingOf(dealId)).toEqual({ dealId, endsAt: BigInt(since + 2 * PERIOD), refund: 8_000n })
    await fixture.passSeconds(PERIOD)
    await provePeriod(dealId)
    await fixture.passSeconds(PERIOD)
    expect(await gainOf(prover.address, () => stranger.send('settle', [dealId]))).toBe(1_500n)
  })

  it('takes a tenth of the bond for each period that the prover then misses', async () => {
    const dealId = await activeDeal(terms)
    await client.send('endDeal', [dealId])
    await fixture.passSeconds(2 * PERIOD)
    let ofProver = 0n
    const ofClient = await gainOf(client.address, async () => {
      ofProver = await gainOf(prover.address, () => stranger.send('settle', [dealId]))
    })
    expect([ofClient, ofProver]).toEqual([2_100n, 400n])
    expect(await stateOf(dealId)).toBe('Settled')
  })

  it('accounts for missed periods first, and does nothing where they end the deal', async () => {
    const dealId = await activeDeal(terms)
    await fixture.passSeconds(2 * PERIOD)
    // Two missed, with a tenth of the bond each; two remain.
    expect(await gainOf(client.address, () => client.send('endDeal', [dealId]))).toBe(2_000n + 100n + 6_000n)
    const slashed = await activeDeal(terms)
    await fixture.passSeconds(3 * PERIOD)
    await expect(client.refusal('endDeal', [slashed])).resolves.toEqual({ name: 'WrongState', args: [slashed, 4] })
  })

  it('cuts an extension: what the notice needs of it is kept, at its own rate', async () => {
    const dealId = await activeDeal({ duration: BigInt(PERIOD), totalPayment: 100n })
    await client.send('extendDeal', [dealId, 4n * BigInt(PERIOD), 8n])
    const { since } = await fixture.deal(dealId)
    expect(await endingOf(dealId)).toEqual({ dealId, endsAt: BigInt(since + 2 * PERIOD), refund: 6n })
    await provePeriod(dealId)
    await fixture.passSeconds(PERIOD)
    await provePeriod(dealId)
    await fixture.passSeconds(PERIOD)
    expect(await gainOf(prover.address, () => stranger.send('settle', [dealId]))).toBe(102n)
  })

  it('drops an extension that the notice does not reach, and part of the term', async () => {
    const dealId = await activeDeal({ duration: 3n * BigInt(PERIOD) + 300n, totalPayment: 3_300n })
    await client.send('extendDeal', [dealId, 4n * BigInt(PERIOD), 8n])
    expect(await endingOf(dealId)).toMatchObject({ refund: 1_308n })
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ extraDuration: 0, extraPayment: 0n, remaining: 2_000n })
  })

  it('changes nothing near the end of the term, where the last period takes what is left', async () => {
    const dealId = await activeDeal({ duration: BigInt(PERIOD) + 500n, totalPayment: 100n })
    const { since } = await fixture.deal(dealId)
    expect(await endingOf(dealId)).toEqual({ dealId, endsAt: BigInt(since + PERIOD + 500), refund: 0n })
    await provePeriod(dealId)
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ earned: 100n })
    const proven = await activeDeal({ duration: BigInt(PERIOD), totalPayment: 100n })
    await provePeriod(proven)
    expect(await endingOf(proven)).toMatchObject({ refund: 0n })
  })

  it('is final: no second notice, no extension', async () => {
    const dealId = await activeDeal(terms)
    await client.send('endDeal', [dealId])
    const refusal = { name: 'AlreadyEnding', args: [dealId] }
    await expect(client.refusal('endDeal', [dealId])).resolves.toEqual(refusal)
    await expect(client.refusal('extendDeal', [dealId, 1_000n, 0n])).resolves.toEqual(refusal)
  })

  it('is for the client, of a deal that runs', async () => {
    const dealId = await activeDeal({ duration: BigInt(PERIOD), totalPayment: 1n })
    await expect(prover.refusal('endDeal', [dealId])).resolves.toEqual({
      ...{ name: 'NotClient', args: [dealId, prover.address] },
    })
    const proposed = await propose(terms)
    await expect(stranger.refusal('endDeal', [proposed])).resolves.toMatchObject({ name: 'NotClient' })
    await expect(client.refusal('endDeal', [2n ** 99n])).resolves.toMatchObject({ name: 'WrongState' })
    await provePeriod(dealId)
    await fixture.passSeconds(PERIOD)
    await expect(client.refusal('endDeal', [dealId])).resolves.toEqual({ name: 'DealOver', args: [dealId] })
  })
})
