import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dealSteps, MAX_DURATION, MAX_PAYMENT } from './testing/deal-steps.ts'
import { type Actor, type Fixture, openFixture, PERIOD, WINDOW } from './testing/marketplace-fixture.ts'

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

describe('the pay', () => {
  it('is earned by the period, and all of it by proving every one', async () => {
    const dealId = await activeDeal({ duration: 3n * BigInt(PERIOD), totalPayment: 3_001n })
    await provePeriod(dealId)
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ earned: 1_000n, remaining: 2_001n, period: 1 })
    expect(await gainOf(prover.address, () => stranger.send('settle', [dealId]))).toBe(1_000n)
    await fixture.passSeconds(PERIOD)
    await provePeriod(dealId)
    await fixture.passSeconds(PERIOD)
    await provePeriod(dealId)
    expect(await stateOf(dealId)).toBe('Active')
    expect(await gainOf(prover.address, () => stranger.send('settle', [dealId]))).toBe(2_001n)
    await fixture.passSeconds(PERIOD)
    await stranger.send('settle', [dealId])
    expect(await stateOf(dealId)).toBe('Settled')
    await expect(stranger.refusal('settle', [dealId])).resolves.toEqual({ name: 'NothingToSettle', args: [dealId] })
    await expect(stranger.refusal('slash', [dealId])).resolves.toEqual({ name: 'WrongState', args: [dealId, 3] })
  })

  it('gives the last period what is left of the term', async () => {
    const dealId = await activeDeal({ duration: 2n * BigInt(PERIOD) + 500n, totalPayment: 2_500n })
    await provePeriod(dealId)
    await fixture.passSeconds(PERIOD)
    await provePeriod(dealId)
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ earned: 2_500n, remaining: 0n, period: 2 })
    await fixture.passSeconds(1_500)
    expect(await gainOf(prover.address, () => client.send('settle', [dealId]))).toBe(2_500n)
    expect(await stateOf(dealId)).toBe('Settled')
  })

  it('goes back to the client for a period that was missed, counted once', async () => {
    const dealId = await activeDeal({ totalPayment: 3_000n })
    await expect(stranger.refusal('slash', [dealId])).resolves.toEqual({ name: 'NothingMissed', args: [dealId] })
    await fixture.passSeconds(PERIOD)
    expect(await gainOf(client.address, () => stranger.send('slash', [dealId]))).toBe(1_000n)
    await expect(stranger.refusal('slash', [dealId])).resolves.toEqual({ name: 'NothingMissed', args: [dealId] })
    await provePeriod(dealId)
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ missesInARow: 0, period: 2, earned: 1_000n })
  })

  it('goes back as a whole after three missed periods in a row', async () => {
    const dealId = await activeDeal({ duration: 10n * BigInt(PERIOD), totalPayment: 10_000n })
    await provePeriod(dealId)
    await client.send('extendDeal', [dealId, 1_000n, 77n])
    await fixture.passSeconds(4 * PERIOD)
    const before = await fixture.balance(prover.address)
    expect(await gainOf(client.address, () => stranger.send('slash', [dealId]))).toBe(9_077n)
    expect((await fixture.balance(prover.address)) - before).toBe(1_000n)
    expect(await stateOf(dealId)).toBe('Slashed')
    await expect(stranger.refusal('slash', [dealId])).resolves.toEqual({ name: 'WrongState', args: [dealId, 4] })
    await expect(client.refusal('extendDeal', [dealId, 1n, 1n])).resolves.toEqual({
      name: 'WrongState',
      args: [dealId, 4],
    })
    await expect(stranger.refusal('settle', [dealId])).resolves.toEqual({ name: 'NothingToSettle', args: [dealId] })
  })

  it('is not slashed for two misses, a proof and two misses', async () => {
    const dealId = await activeDeal({ duration: 5n * BigInt(PERIOD), totalPayment: 5_000n })
    await fixture.passSeconds(2 * PERIOD)
    await provePeriod(dealId)
    await fixture.passSeconds(3 * PERIOD)
    const before = await fixture.balance(prover.address)
    expect(await gainOf(client.address, () => stranger.send('settle', [dealId]))).toBe(4_000n)
    expect((await fixture.balance(prover.address)) - before).toBe(1_000n)
    expect(await stateOf(dealId)).toBe('Settled')
  })

  it('cannot be settled while nobody is owed anything', async () => {
    const dealId = await activeDeal()
    await expect(prover.refusal('settle', [dealId])).resolves.toEqual({ name: 'NothingToSettle', args: [dealId] })
    const proposed = await propose()
    await expect(prover.refusal('settle', [proposed])).resolves.toEqual({ name: 'WrongState', args: [proposed, 1] })
  })

  it('may be nothing at all, and the deal is closed after three misses all the same', async () => {
    const dealId = await activeDeal({ duration: 5n * BigInt(PERIOD), totalPayment: 0n })
    await fixture.passSeconds(2 * PERIOD)
    await expect(stranger.refusal('settle', [dealId])).resolves.toEqual({ name: 'NothingToSettle', args: [dealId] })
    await fixture.passSeconds(PERIOD)
    await stranger.send('settle', [dealId])
    expect(await stateOf(dealId)).toBe('Slashed')
    await expect(stranger.refusal('settle', [dealId])).resolves.toEqual({ name: 'NothingToSettle', args: [dealId] })
  })

  it('may be nothing at all', async () => {
    const dealId = await activeDeal({ duration: BigInt(PERIOD), totalPayment: 0n })
    await provePeriod(dealId)
    await fixture.passSeconds(PERIOD)
    await stranger.send('settle', [dealId])
    expect(await stateOf(dealId)).toBe('Settled')
  })
})

describe('extendDeal', () => {
  it('adds time and pay behind what was agreed, which keeps its own', async () => {
    const dealId = await activeDeal({ duration: 2n * BigInt(PERIOD), totalPayment: 2_000n })
    expect(await gainOf(client.address, () => client.send('extendDeal', [dealId, 2_000n, 500n]))).toBe(-500n)
    await provePeriod(dealId)
    await expect(fixture.deal(dealId)).resolves.toMatchObject({
      earned: 1_000n,
      extraDuration: 2_000,
      extraPayment: 500n,
    })
    await fixture.passSeconds(PERIOD)
    await provePeriod(dealId)
    const reached = { earned: 2_000n, remaining: 500n, duration: 4_000, extraDuration: 0, extraPayment: 0n }
    await expect(fixture.deal(dealId)).resolves.toMatchObject(reached)
    await fixture.passSeconds(PERIOD)
    await provePeriod(dealId)
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ earned: 2_250n, remaining: 250n })
    await fixture.passSeconds(2 * PERIOD)
    expect(await gainOf(client.address, () => client.send('settle', [dealId]))).toBe(250n)
    expect(await stateOf(dealId)).toBe('Settled')
  })

  it('goes on where every period is proven but the term is not over', async () => {
    const dealId = await activeDeal({ duration: BigInt(PERIOD), totalPayment: 10n })
    await provePeriod(dealId)
    await client.send('extendDeal', [dealId, 1_000n, 30n])
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ remaining: 30n, duration: 2_000 })
    await expect(prover.refusal('openChallenge', [dealId])).resolves.toEqual({ name: 'AlreadyProven', args: [dealId] })
    await fixture.passSeconds(PERIOD)
    await provePeriod(dealId)
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ earned: 40n, remaining: 0n })
  })

  it('refuses other people, other states and other terms', async () => {
    const dealId = await activeDeal()
    await expect(prover.refusal('extendDeal', [dealId, 1n, 0n])).resolves.toEqual({
      ...{ name: 'NotClient', args: [dealId, prover.address] },
    })
    for (const extraDuration of [0n, MAX_DURATION, 2n ** 64n - 1n]) {
      const refusal = await client.refusal('extendDeal', [dealId, extraDuration, 0n])
      expect(refusal).toEqual({ name: 'DurationOutOfRange', args: [extraDuration] })
    }
    for (const extraPayment of [MAX_PAYMENT + 1n, 2n ** 256n - 1n]) {
      const refusal = await client.refusal('extendDeal', [dealId, 1n, extraPayment])
      expect(refusal).toEqual({ name: 'PaymentTooLarge', args: [extraPayment] })
    }
    await provePeriod(dealId)
    await fixture.passSeconds(3 * PERIOD)
    await expect(client.refusal('extendDeal', [dealId, 1n, 0n])).resolves.toEqual({ name: 'DealOver', args: [dealId] })
    const late = await propose()
    await fixture.passSeconds(WINDOW + 1)
    await expect(client.refusal('extendDeal', [late, 1n, 0n])).resolves.toEqual({
      name: 'AcceptanceOver',
      args: [late],
    })
    await expect(client.refusal('extendDeal', [2n ** 99n, 1n, 0n])).resolves.toEqual({
      ...{ name: 'WrongState', args: [2n ** 99n, 0] },
    })
  })
})
