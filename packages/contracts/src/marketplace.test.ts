import {
  type Address,
  BaseError,
  decodeErrorResult,
  encodeDeployData,
  type Hex,
  parseEventLogs,
  zeroAddress,
  zeroHash,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { marketplaceAbi, marketplaceBytecode } from './contracts.ts'
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

const { accept, piece, termsOf, propose, activeDeal, stateOf, gainOf } = dealSteps(() => fixture)

describe('constructor', () => {
  const usual = { usdc: piece.commp.slice(0, 42) as Address, period: 1n, window: 1n, firstDealId: 1n, delay: 1 }
  it.each([
    ['ZeroAddress', { usdc: zeroAddress }],
    ['ZeroPeriod', { period: 0n }],
    ['ZeroPeriod', { window: 0n }],
    ['ZeroPeriod', { delay: 0 }],
    ['DurationOutOfRange', { period: MAX_DURATION + 1n }],
    ['DurationOutOfRange', { window: MAX_DURATION + 1n }],
    ['InvalidFirstDealId', { firstDealId: 0n }],
    ['InvalidFirstDealId', { firstDealId: 2n ** 63n + 1n }],
    // An address without code answers nothing.
    ['NoRandomness', { beacon: piece.commp.slice(0, 42) as Address }],
  ] as const)('refuses: %s (%o)', async (name, settings) => {
    const all = { ...usual, beacon: zeroAddress, ...settings }
    const args = [all.usdc, all.period, all.window, all.firstDealId, all.delay, all.beacon] as const
    const data = encodeDeployData({ abi: marketplaceAbi, bytecode: marketplaceBytecode, args })
    const failure = await fixture.client.call({ data }).catch((error: unknown) => error)
    const raw = failure instanceof BaseError ? failure.walk((error) => 'data' in Object(error)) : undefined
    const { data: reverted }: { data?: Hex } = Object(raw)
    expect(decodeErrorResult({ abi: marketplaceAbi, data: reverted ?? '0x' }).errorName).toBe(name)
  })
})

describe('proposeDeal', () => {
  it('takes the pay into escrow and keeps the terms', async () => {
    const before = await fixture.lastDealId()
    expect(await gainOf(client.address, () => propose())).toBe(-3_001n)
    const dealId = before + 1n
    const deal = await fixture.deal(dealId)
    expect(deal).toMatchObject({ client: client.address, prover: prover.address, commp: piece.commp, state: 1 })
    expect(deal).toMatchObject({ pieceSize: 128n, duration: 3_000, remaining: 3_001n, earned: 0n, refundable: 0n })
    expect(BigInt(deal.since)).toBe(await fixture.now())
  })

  it('says what was proposed', async () => {
    const receipt = await client.send('proposeDeal', [termsOf({ totalPayment: 0n, bond: 5n })])
    const [event] = parseEventLogs({ abi: marketplaceAbi, eventName: 'DealProposed', logs: receipt.logs })
    expect(event?.args).toEqual({
      ...{ dealId: await fixture.lastDealId(), client: client.address, prover: prover.address, commp: piece.commp },
      ...{ pieceSize: 128n, leafCount: 4n, duration: 3_000n, totalPayment: 0n, bond: 5n },
    })
  })

  it.each([
    ['ZeroAddress', { prover: zeroAddress }],
    ['InvalidPieceSize', { pieceSize: 64n }],
    ['InvalidPieceSize', { pieceSize: 0n }],
    ['InvalidPieceSize', { pieceSize: 129n }],
    ['InvalidPieceSize', { pieceSize: 2n ** 63n + 128n }],
    ['DurationOutOfRange', { duration: BigInt(PERIOD) - 1n }],
    ['DurationOutOfRange', { duration: MAX_DURATION + 1n }],
    ['DurationOutOfRange', { duration: 2n ** 64n - 1n }],
    ['PaymentTooLarge', { totalPayment: MAX_PAYMENT + 1n }],
    ['PaymentTooLarge', { totalPayment: 2n ** 256n - 1n }],
    ['PaymentTooLarge', { bond: MAX_PAYMENT + 1n }],
    ['InvalidLeafCount', { leafCount: 0n }],
    ['InvalidLeafCount', { leafCount: 5n }],
    ['ERC20InsufficientBalance', { totalPayment: MAX_PAYMENT }],
  ] as const)('refuses: %s (%o)', async (name, terms) => {
    const refusal = await client.refusal('proposeDeal', [termsOf(terms)])
    // The token's own error is not part of the marketplace's ABI, and reads as unknown.
    expect(refusal.name ?? 'ERC20InsufficientBalance').toBe(name)
  })

  it('takes the widest terms', async () => {
    const widest = { pieceSize: 2n ** 63n, leafCount: 2n ** 58n, duration: MAX_DURATION, bond: MAX_PAYMENT }
    const dealId = await propose({ ...widest, totalPayment: 1n })
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ ...widest, duration: Number(MAX_DURATION) })
    await client.send('withdrawDeal', [dealId])
  })
})

describe('proposeDeals', () => {
  it('numbers deals in the order of the proposals and takes their pay together', async () => {
    const before = await fixture.lastDealId()
    const proposals = [1n, 2n, 4n].map((totalPayment) => termsOf({ totalPayment }))
    expect(await gainOf(client.address, () => client.send('proposeDeals', [proposals]))).toBe(-7n)
    expect(await fixture.lastDealId()).toBe(before + 3n)
    const deals = await Promise.all([1n, 2n, 3n].map((place) => fixture.deal(before + place)))
    expect(deals.map(({ remaining }) => remaining)).toEqual([1n, 2n, 4n])
  })

  it('refuses all of a batch for one that is wrong', async () => {
    await expect(client.refusal('proposeDeals', [[]])).resolves.toEqual({ name: 'NoProposals', args: [] })
    const proposals = [termsOf({}), termsOf({ pieceSize: 100n })]
    await expect(client.refusal('proposeDeals', [proposals])).resolves.toEqual({
      name: 'InvalidPieceSize',
      args: [100n],
    })
  })
})

describe('acceptDeal', () => {
  it('begins the term', async () => {
    const dealId = await propose()
    await fixture.passSeconds(WINDOW - 100)
    await accept(dealId)
    const now = await fixture.now()
    expect(await stateOf(dealId)).toBe('Active')
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ since: Number(now), accountedUntil: Number(now) })
    const args = [dealId] as const
    const endsAt = { ...fixture.marketplaceCall, functionName: 'endsAt', args } as const
    await expect(fixture.client.readContract(endsAt)).resolves.toBe(now + 3_000n)
  })

  it('is possible until the last second of the window', async () => {
    const [inTime, late] = [await propose(), await propose()]
    const { since } = await fixture.deal(inTime)
    await fixture.nextBlockAt(BigInt(since + WINDOW))
    await accept(inTime)
    // Time that passes is that of the clock, of which a second can end in the same second.
    await fixture.nextBlockAt(BigInt(since + WINDOW + 1))
    await fixture.mine(1)
    await expect(prover.refusal('acceptDeal', [late, zeroHash])).resolves.toEqual({
      name: 'AcceptanceOver',
      args: [late],
    })
  })

  it('refuses anybody else, and a deal that is not proposed', async () => {
    const dealId = await propose()
    await expect(client.refusal('acceptDeal', [dealId, zeroHash])).resolves.toEqual({
      ...{ name: 'NotProver', args: [dealId, client.address] },
    })
    await accept(dealId)
    await expect(prover.refusal('acceptDeal', [dealId, zeroHash])).resolves.toEqual({
      name: 'WrongState',
      args: [dealId, 2],
    })
    await expect(prover.refusal('acceptDeal', [2n ** 99n, zeroHash])).resolves.toEqual({
      ...{ name: 'WrongState', args: [2n ** 99n, 0] },
    })
  })
})

describe('withdrawDeal', () => {
  it('gives the client its escrow back', async () => {
    const dealId = await propose()
    await client.send('extendDeal', [dealId, 5n, 10n])
    expect(await gainOf(client.address, () => client.send('withdrawDeal', [dealId]))).toBe(3_011n)
    expect(await stateOf(dealId)).toBe('Withdrawn')
    await expect(client.refusal('withdrawDeal', [dealId])).resolves.toEqual({ name: 'WrongState', args: [dealId, 5] })
    await expect(prover.refusal('acceptDeal', [dealId, zeroHash])).resolves.toEqual({
      name: 'WrongState',
      args: [dealId, 5],
    })
    await expect(stranger.refusal('settle', [dealId])).resolves.toEqual({ name: 'WrongState', args: [dealId, 5] })
  })

  it('is for the client alone during the window, and for anybody after it', async () => {
    const dealId = await propose()
    const refusal = { name: 'NotClient', args: [dealId, stranger.address] }
    await expect(stranger.refusal('withdrawDeal', [dealId])).resolves.toEqual(refusal)
    await fixture.passSeconds(WINDOW + 1)
    expect(await gainOf(client.address, () => stranger.send('withdrawDeal', [dealId]))).toBe(3_001n)
  })

  it('refuses a deal that was accepted', async () => {
    const dealId = await activeDeal()
    await expect(client.refusal('withdrawDeal', [dealId])).resolves.toEqual({ name: 'WrongState', args: [dealId, 2] })
  })
})
