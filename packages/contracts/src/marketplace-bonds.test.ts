import { parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { marketplaceAbi } from './contracts.ts'
import { dealSteps, MAX_PAYMENT } from './testing/deal-steps.ts'
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

const { propose, activeDeal, accept, provePeriod, stateOf, gainOf } = dealSteps(() => fixture)
const terms = { duration: 5n * BigInt(PERIOD), totalPayment: 5_000n, bond: 105n }

/** What client and prover gain by something that is done. */
async function gains(act: () => Promise<unknown>): Promise<{ client: bigint; prover: bigint }> {
  let ofProver = 0n
  const ofClient = await gainOf(client.address, async () => {
    ofProver = await gainOf(prover.address, act)
  })
  return { client: ofClient, prover: ofProver }
}

describe('a bond', () => {
  it('is paid at the acceptance, and goes back when the term is over', async () => {
    const dealId = await propose({ ...terms, duration: BigInt(PERIOD), totalPayment: 10n })
    expect(await gains(() => accept(dealId))).toEqual({ client: 0n, prover: -105n })
    await provePeriod(dealId)
    expect(await gains(() => stranger.send('settle', [dealId]))).toEqual({ client: 0n, prover: 10n })
    await fixture.passSeconds(PERIOD)
    const receipt = await stranger.send('settle', [dealId])
    const events = parseEventLogs({ abi: marketplaceAbi, logs: receipt.logs }).map(({ eventName, args }) => [
      eventName,
      args,
    ])
    expect(events).toContainEqual(['BondReleased', { dealId, amount: 105n }])
    expect(events).toContainEqual(['Paid', { dealId, to: prover.address, pay: 0n, bond: 105n }])
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ state: 3, bond: 105n, bondLeft: 0n, bondState: 2 })
  })

  it('loses a tenth, rounded up, with each missed period', async () => {
    const dealId = await activeDeal(terms)
    await fixture.passSeconds(PERIOD)
    expect(await gains(() => stranger.send('slash', [dealId]))).toEqual({ client: 1_011n, prover: 0n })
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ bondLeft: 94n, misses: 1, missesInARow: 1 })
    await provePeriod(dealId)
    await fixture.passSeconds(2 * PERIOD)
    expect(await gains(() => stranger.send('slash', [dealId]))).toEqual({ client: 1_011n, prover: 1_000n })
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ bondLeft: 83n, misses: 2, missesInARow: 1 })
    await fixture.passSeconds(2 * PERIOD)
    expect(await gains(() => stranger.send('slash', [dealId]))).toEqual({ client: 2_083n, prover: 0n })
    expect(await stateOf(dealId)).toBe('Slashed')
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ bondLeft: 0n, misses: 4 })
  })

  it('is the client’s as a whole after three missed periods in a row', async () => {
    const dealId = await activeDeal(terms)
    await provePeriod(dealId)
    await fixture.passSeconds(4 * PERIOD)
    expect(await gains(() => stranger.send('slash', [dealId]))).toEqual({ client: 4_105n, prover: 1_000n })
  })

  it('is used up by ten misses at the most, and then nothing more is taken', async () => {
    const dealId = await activeDeal({ duration: 30n * BigInt(PERIOD), totalPayment: 0n, bond: 2n })
    let forfeited = 0n
    for (let round = 0; round < 3; round += 1) {
      await provePeriod(dealId)
      await fixture.passSeconds(3 * PERIOD)
      forfeited += await gainOf(client.address, () => stranger.attempt('slash', [dealId]))
    }
    expect(forfeited).toBe(2n)
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ bondLeft: 0n, misses: 6, state: 2 })
  })

  it('is for the accepted term: an extension that begins releases it, and misses then cost only their pay', async () => {
    const dealId = await activeDeal({ ...terms, duration: BigInt(PERIOD), totalPayment: 10n })
    await client.send('extendDeal', [dealId, 10n * BigInt(PERIOD), 100n])
    await provePeriod(dealId)
    expect(await gains(() => stranger.send('settle', [dealId]))).toEqual({ client: 0n, prover: 115n })
    await fixture.passSeconds(4 * PERIOD)
    expect(await gains(() => stranger.send('slash', [dealId]))).toEqual({ client: 100n, prover: 0n })
    expect(await stateOf(dealId)).toBe('Slashed')
  })

  it('is not saved by an extension if the third miss is in the last period before it', async () => {
    const dealId = await activeDeal({ ...terms, duration: 3n * BigInt(PERIOD), totalPayment: 30n })
    await client.send('extendDeal', [dealId, 3n * BigInt(PERIOD), 7n])
    await fixture.passSeconds(3 * PERIOD)
    expect(await gains(() => stranger.send('slash', [dealId]))).toEqual({ client: 142n, prover: 0n })
  })

  it('cannot be taken by an extension of a second, which nobody can prove', async () => {
    const dealId = await activeDeal({ ...terms, duration: BigInt(PERIOD), totalPayment: 10n })
    await client.send('extendDeal', [dealId, 1n, 0n])
    await provePeriod(dealId)
    await fixture.passSeconds(PERIOD + 1)
    expect(await gains(() => stranger.send('settle', [dealId]))).toEqual({ client: 0n, prover: 115n })
  })

  it('must be there: without the USDC nothing is accepted', async () => {
    const dealId = await propose({ ...terms, bond: MAX_PAYMENT })
    const refusal = await prover.refusal('acceptDeal', [dealId, await fixture.termsHash(dealId)])
    // The token's own error is not part of the marketplace's ABI.
    expect(refusal.name).toBeUndefined()
    expect(await stateOf(dealId)).toBe('Proposed')
    expect(await gains(() => client.send('withdrawDeal', [dealId]))).toEqual({ client: 5_000n, prover: 0n })
  })
})
