import { encodeAbiParameters, type Hex, keccak256, parseEventLogs, sha256 } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { marketplaceAbi } from './contracts.ts'
import { type Actor, type Fixture, openFixture, PERIOD, type Piece, pieceOf } from './testing/marketplace-fixture.ts'

/** Raw bytes without a pattern. */
function scattered(sizeBytes: number): Uint8Array {
  let block: Uint8Array = sha256('0x', 'bytes')
  return Uint8Array.from({ length: sizeBytes }, (_, index) => {
    if (index % 32 === 0) block = sha256(block, 'bytes')
    return block[index % 32] ?? 0
  })
}

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

async function activeDeal(of: Piece = piece): Promise<bigint> {
  const terms = [prover.address, of.commp, of.pieceSize, 5n * BigInt(PERIOD), 5_000n] as const
  await fixture.client1.send('proposeDeal', terms)
  const dealId = await fixture.lastDealId()
  await prover.send('acceptDeal', [dealId])
  return dealId
}

describe('openChallenge', () => {
  it('draws a leaf by the hash of its own block', async () => {
    const dealId = await activeDeal()
    const receipt = await prover.send('openChallenge', [dealId])
    const [event] = parseEventLogs({ abi: marketplaceAbi, eventName: 'ChallengeOpened', logs: receipt.logs })
    expect(event?.args).toEqual({ dealId, period: 0, challengeBlock: receipt.blockNumber })
    await fixture.mine(1)
    const types = [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint32' }] as const
    const drawn = BigInt(keccak256(encodeAbiParameters(types, [receipt.blockHash, dealId, 0])))
    expect(await fixture.challengedLeaf(dealId)).toBe(drawn % (piece.pieceSize / 32n))
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

describe('challengedLeaf', () => {
  it('is there from the block after its opening, for 256 blocks and as long as the period', async () => {
    const dealId = await activeDeal()
    await expect(fixture.leafRefusal(dealId)).resolves.toEqual({ name: 'ChallengeNotOpen', args: [dealId] })
    await prover.send('openChallenge', [dealId])
    await expect(fixture.leafRefusal(dealId)).resolves.toEqual({ name: 'ChallengeNotDrawn', args: [dealId] })
    await fixture.mine(1)
    const leaf = await fixture.challengedLeaf(dealId)
    await fixture.mine(255)
    expect(await fixture.challengedLeaf(dealId)).toBe(leaf)
    await fixture.mine(1)
    await expect(fixture.leafRefusal(dealId)).resolves.toEqual({ name: 'ChallengeLapsed', args: [dealId] })
    await fixture.passSeconds(PERIOD)
    await expect(fixture.leafRefusal(dealId)).resolves.toEqual({ name: 'ChallengeNotOpen', args: [dealId] })
  })
})

describe('prove', () => {
  it('takes a proof of a real piece, once a period', async () => {
    const mebibyte = pieceOf(scattered(1_000_000))
    expect(mebibyte.pieceSize).toBe(2n ** 20n)
    const dealId = await activeDeal(mebibyte)
    await prover.send('openChallenge', [dealId])
    const proof = await fixture.proofOf(dealId, mebibyte)
    expect(proof[2]).toHaveLength(15)
    const receipt = await prover.send('prove', proof)
    const [event] = parseEventLogs({ abi: marketplaceAbi, eventName: 'PeriodProven', logs: receipt.logs })
    expect(event?.args).toEqual({ dealId, period: 0, pay: 1_000n })
    await expect(prover.refusal('prove', proof)).resolves.toEqual({ name: 'AlreadyProven', args: [dealId] })
    await expect(prover.refusal('openChallenge', [dealId])).resolves.toEqual({ name: 'AlreadyProven', args: [dealId] })
  })

  it('takes proofs of every leaf that comes up', async () => {
    const smallest = pieceOf(scattered(127))
    const leaves = new Set<bigint>()
    for (let turn = 0; turn < 16; turn += 1) {
      const dealId = await activeDeal(smallest)
      await prover.send('openChallenge', [dealId])
      await prover.send('prove', await fixture.proofOf(dealId, smallest))
      await fixture.passSeconds(PERIOD)
      await prover.send('openChallenge', [dealId])
      await fixture.mine(1)
      leaves.add(await fixture.challengedLeaf(dealId))
      await prover.send('prove', await fixture.proofOf(dealId, smallest))
    }
    // One of the four comes up sixteen times once in a billion runs.
    expect(leaves.size).toBeGreaterThan(1)
  })

  it('refuses a proof that is wrong in any part', async () => {
    const dealId = await activeDeal()
    await prover.send('openChallenge', [dealId])
    const [, leaf, path] = await fixture.proofOf(dealId, piece)
    const [, otherLeaf, otherPath] = await fixture.proofOf(dealId, pieceOf(scattered(127 * 8).reverse()))
    const flipped = (word: Hex): Hex => `0x${(BigInt(word) ^ 1n).toString(16).padStart(64, '0')}`
    const wrong: readonly (readonly [Hex, readonly Hex[]])[] = [
      [flipped(leaf), path],
      [otherLeaf, otherPath],
      [leaf, otherPath],
      [leaf, path.slice(1)],
      [leaf, path.slice(0, -1)],
      [leaf, [...path, leaf]],
      [leaf, []],
      [leaf, path.toReversed()],
      [piece.commp, []],
      ...path.map((_, at) => [leaf, path.map((word, index) => (index === at ? flipped(word) : word))] as const),
    ]
    const refusal = { name: 'InvalidProof', args: [dealId] }
    for (const [leafGiven, pathGiven] of wrong) {
      await expect(prover.refusal('prove', [dealId, leafGiven, pathGiven])).resolves.toEqual(refusal)
    }
    await prover.send('prove', [dealId, leaf, path])
  })

  it('refuses a right proof of another leaf', async () => {
    const dealId = await activeDeal()
    const other = await activeDeal()
    await prover.send('openChallenge', [dealId])
    await fixture.mine(1)
    // Another deal about the same piece, until it is asked for another leaf.
    await prover.send('openChallenge', [other])
    await fixture.mine(1)
    for (let turn = 0; (await fixture.challengedLeaf(other)) === (await fixture.challengedLeaf(dealId)); turn += 1) {
      if (turn === 4) throw new Error('five challenges in a row were about one leaf')
      await prover.send('prove', await fixture.proofOf(other, piece))
      await fixture.passSeconds(PERIOD)
      await prover.send('openChallenge', [other])
      await prover.send('openChallenge', [dealId])
      await fixture.mine(1)
    }
    const [, leaf, path] = await fixture.proofOf(other, piece)
    await expect(prover.refusal('prove', [dealId, leaf, path])).resolves.toEqual({
      name: 'InvalidProof',
      args: [dealId],
    })
  })

  it('is for the prover, after the challenge and before its end', async () => {
    const dealId = await activeDeal()
    const nothing = [dealId, piece.commp, []] as const
    await expect(prover.refusal('prove', nothing)).resolves.toEqual({ name: 'ChallengeNotOpen', args: [dealId] })
    await prover.send('openChallenge', [dealId])
    await expect(prover.refusal('prove', nothing)).resolves.toEqual({ name: 'ChallengeNotDrawn', args: [dealId] })
    const proof = await fixture.proofOf(dealId, piece)
    await expect(stranger.refusal('prove', proof)).resolves.toEqual({
      ...{ name: 'NotProver', args: [dealId, stranger.address] },
    })
    await fixture.mine(256)
    await expect(prover.refusal('prove', proof)).resolves.toEqual({ name: 'ChallengeLapsed', args: [dealId] })
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
