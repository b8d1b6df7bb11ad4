import { type Hex, parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { marketplaceAbi } from './contracts.ts'
import { dealSteps } from './testing/deal-steps.ts'
import { type Actor, type Fixture, openFixture, PERIOD } from './testing/marketplace-fixture.ts'
import { type Piece, pieceOf, scattered } from './testing/pieces.ts'

const piece = pieceOf(scattered(127 * 8))

let fixture: Fixture
let prover: Actor
let stranger: Actor
beforeAll(async () => {
  fixture = await openFixture()
  prover = fixture.prover
  stranger = fixture.stranger
})
afterAll(() => fixture.stop())

const steps = dealSteps(() => fixture)

function activeDeal({ commp, pieceSize, leafCount }: Piece = piece): Promise<bigint> {
  return steps.activeDeal({ commp, pieceSize, leafCount, duration: 5n * BigInt(PERIOD), totalPayment: 5_000n })
}

describe('openChallenge', () => {
  it('names the block that draws the leaves', async () => {
    const dealId = await activeDeal()
    const receipt = await prover.send('openChallenge', [dealId])
    const [event] = parseEventLogs({ abi: marketplaceAbi, eventName: 'ChallengeOpened', logs: receipt.logs })
    const seedBlock = receipt.blockNumber + 1n
    expect(event?.args).toEqual({ dealId, period: 0, seedBlock })
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ seedBlock: Number(seedBlock) })
  })

  it('is for the prover, and once a period', async () => {
    const dealId = await activeDeal()
    await expect(stranger.refusal('openChallenge', [dealId])).resolves.toEqual({
      ...{ name: 'NotProver', args: [dealId, stranger.address] },
    })
    await prover.send('openChallenge', [dealId])
    const refusal = { name: 'ChallengeAlreadyOpen', args: [dealId] }
    await expect(prover.refusal('openChallenge', [dealId])).resolves.toEqual(refusal)
    await fixture.mine(300)
    await expect(prover.refusal('openChallenge', [dealId])).resolves.toEqual(refusal)
    await fixture.passSeconds(PERIOD)
    await prover.send('openChallenge', [dealId])
    await expect(fixture.deal(dealId)).resolves.toMatchObject({ period: 1, missesInARow: 1 })
  })

  it('needs a deal that runs', async () => {
    const dealId = await activeDeal()
    await fixture.passSeconds(3 * PERIOD)
    // The third missed period ends the deal; what reverts leaves it to `slash` to say so.
    await expect(prover.refusal('openChallenge', [dealId])).resolves.toEqual({ name: 'WrongState', args: [dealId, 4] })
    await expect(prover.refusal('openChallenge', [0n])).resolves.toEqual({ name: 'WrongState', args: [0n, 0] })
  })
})

describe('prove', () => {
  it('takes a proof of a real piece, once a period', async () => {
    const mebibyte = pieceOf(scattered(1_000_000))
    expect(mebibyte.pieceSize).toBe(2n ** 20n)
    const dealId = await activeDeal(mebibyte)
    await prover.send('openChallenge', [dealId])
    const proof = await fixture.proofOf(dealId, mebibyte)
    expect(proof[2]).toHaveLength(5 * 16)
    const receipt = await prover.send('prove', proof)
    const [event] = parseEventLogs({ abi: marketplaceAbi, eventName: 'PeriodProven', logs: receipt.logs })
    expect(event?.args).toEqual({ dealId, period: 0, pay: 1_000n })
    await expect(prover.refusal('prove', proof)).resolves.toEqual({ name: 'AlreadyProven', args: [dealId] })
    await expect(prover.refusal('openChallenge', [dealId])).resolves.toEqual({ name: 'AlreadyProven', args: [dealId] })
  })

  it('takes proofs of every leaf that comes up', async () => {
    const smallest = pieceOf(scattered(127))
    const leaves = new Set<Hex | undefined>()
    for (let turn = 0; turn < 4; turn += 1) {
      const dealId = await activeDeal(smallest)
      await prover.send('openChallenge', [dealId])
      const proof = await fixture.proofOf(dealId, smallest)
      for (const index of [0, 3, 6, 9, 12]) leaves.add(proof[2][index])
      await prover.send('prove', proof)
    }
    // One of the four comes up twenty times once in a trillion runs.
    expect(leaves.size).toBeGreaterThan(1)
  })

  it('refuses a proof that is wrong in any part', async () => {
    const dealId = await activeDeal()
    await prover.send('openChallenge', [dealId])
    const [, header, nodes] = await fixture.proofOf(dealId, piece)
    const others = await fixture.nodesOf(dealId, pieceOf(scattered(127 * 8).reverse()))
    const flipped = (word: Hex): Hex => `0x${(BigInt(word) ^ 1n).toString(16).padStart(64, '0')}`
    const wrong: readonly (readonly Hex[])[] = [
      others,
      [],
      nodes.slice(1),
      nodes.slice(0, -1),
      [...nodes, piece.commp],
      nodes.toReversed(),
      // Proofs of four of the five leaves.
      [...nodes.slice(0, 28), ...others.slice(28)],
      Array.from(nodes, () => piece.commp),
      [piece.commp],
      ...nodes.map((_, changed) => nodes.map((word, index) => (index === changed ? flipped(word) : word))),
    ]
    const refusal = { name: 'InvalidProof', args: [dealId] }
    for (const given of wrong) {
      await expect(prover.refusal('prove', [dealId, header, given])).resolves.toEqual(refusal)
    }
    await prover.send('prove', [dealId, header, nodes])
  })

  it('refuses right proofs of other leaves', async () => {
    const [dealId, other] = [await activeDeal(), await activeDeal()]
    await prover.send('openMany', [[dealId, other]])
    const [, header, nodes] = await fixture.proofOf(dealId, piece)
    const others = await fixture.nodesOf(other, piece)
    expect(others).not.toEqual(nodes)
    await expect(prover.refusal('prove', [dealId, header, others])).resolves.toEqual({
      name: 'InvalidProof',
      args: [dealId],
    })
    // Each leaf at the place of another one.
    const turned = [...nodes.slice(7), ...nodes.slice(0, 7)]
    await expect(prover.refusal('prove', [dealId, header, turned])).resolves.toMatchObject({ name: 'InvalidProof' })
  })

  it('is for the prover, after the challenge and before its end', async () => {
    const dealId = await activeDeal()
    const nothing = [dealId, '0x', []] as const
    await expect(prover.refusal('prove', nothing)).resolves.toEqual({ name: 'ChallengeNotOpen', args: [dealId] })
    await prover.send('openChallenge', [dealId])
    await expect(prover.refusal('prove', nothing)).resolves.toEqual({ name: 'ChallengeNotDrawn', args: [dealId] })
    const proof = await fixture.proofOf(dealId, piece)
    await expect(stranger.refusal('prove', proof)).resolves.toEqual({
      ...{ name: 'NotProver', args: [dealId, stranger.address] },
    })
    await fixture.passSeconds(PERIOD)
    await expect(prover.refusal('prove', proof)).resolves.toEqual({ name: 'ChallengeNotOpen', args: [dealId] })
    await prover.send('openChallenge', [dealId])
    await prover.send('prove', await fixture.proofOf(dealId, piece))
    await fixture.passSeconds(2 * PERIOD)
    await prover.send('openChallenge', [dealId])
    await prover.send('prove', await fixture.proofOf(dealId, piece))
    await fixture.passSeconds(2 * PERIOD)
    await expect(prover.refusal('prove', proof)).resolves.toEqual({ name: 'DealOver', args: [dealId] })
    await expect(prover.refusal('openChallenge', [dealId])).resolves.toEqual({ name: 'DealOver', args: [dealId] })
  })

  it('is in time in the last second of a period, and late in the next', async () => {
    const dealId = await activeDeal()
    const { since } = await fixture.deal(dealId)
    await prover.send('openChallenge', [dealId])
    const proof = await fixture.proofOf(dealId, piece)
    await fixture.nextBlockAt(BigInt(since + PERIOD - 1))
    expect((await prover.attempt('prove', proof)).status).toBe('success')
    const late = await activeDeal()
    const { since: lateSince } = await fixture.deal(late)
    await prover.send('openChallenge', [late])
    const lateProof = await fixture.proofOf(late, piece)
    await fixture.nextBlockAt(BigInt(lateSince + PERIOD))
    expect((await prover.attempt('prove', lateProof)).status).toBe('reverted')
  })
})
