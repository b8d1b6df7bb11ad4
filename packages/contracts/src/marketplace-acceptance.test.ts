import { type Address, type Hex, zeroHash } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DealTerms, dealTermsHash } from './challenge/challenge.ts'
import { dealSteps } from './testing/deal-steps.ts'
import { type Actor, type Fixture, openFixture, PERIOD } from './testing/marketplace-fixture.ts'

const CENTURY = 100n * 365n * 86_400n

let fixture: Fixture
let client: Actor
let prover: Actor
beforeAll(async () => {
  fixture = await openFixture()
  client = fixture.client1
  prover = fixture.prover
})
afterAll(() => fixture.stop())

const { piece, propose } = dealSteps(() => fixture)

/** The terms that a prover has read, as it puts them together itself. */
async function termsOf(dealId: bigint): Promise<DealTerms> {
  const deal = await fixture.deal(dealId)
  return {
    ...{ chainId: fixture.chainId, marketplace: fixture.marketplace, dealId },
    ...{ client: deal.client, prover: deal.prover, commp: deal.commp },
    ...{ pieceSize: deal.pieceSize, leafCount: deal.leafCount, durationSeconds: deal.duration },
    ...{ payment: deal.remaining, bond: deal.bond },
    ...{ extraDurationSeconds: deal.extraDuration, extraPayment: deal.extraPayment },
  }
}

describe('the hash of a deal’s terms', () => {
  it('is the same here and in the contract, with and without bond and extension', async () => {
    const plain = await propose()
    expect(dealTermsHash(await termsOf(plain))).toBe(await fixture.termsHash(plain))
    const extended = await propose({ bond: 77n })
    await client.send('extendDeal', [extended, 5_000n, 6n])
    expect(dealTermsHash(await termsOf(extended))).toBe(await fixture.termsHash(extended))
  })

  it('differs when any of the terms does', async () => {
    const terms = await termsOf(await propose({ bond: 5n }))
    const elsewhere: Address = '0x00000000000000000000000000000000000000aa'
    const changes: readonly Partial<DealTerms>[] = [
      ...[{ chainId: 1 }, { marketplace: elsewhere }, { dealId: 99n }, { client: elsewhere }, { prover: elsewhere }],
      ...[{ commp: zeroHash }, { pieceSize: 256n }, { leafCount: 3n }, { durationSeconds: PERIOD }],
      ...[{ payment: 1n }, { bond: 4n }, { extraDurationSeconds: 1 }, { extraPayment: 1n }],
    ]
    const hashes = new Set<Hex>([terms, ...changes.map((change) => ({ ...terms, ...change }))].map(dealTermsHash))
    expect(hashes.size).toBe(changes.length + 1)
  })
})

describe('acceptDeal', () => {
  it('does not bind a prover to an extension that came just before it', async () => {
    const dealId = await propose()
    const checked = await fixture.termsHash(dealId)
    // The client sees the acceptance wait, and is first: a century without pay.
    await client.send('extendDeal', [dealId, CENTURY - 3n * BigInt(PERIOD), 0n])
    await expect(prover.refusal('acceptDeal', [dealId, checked])).resolves.toEqual({
      name: 'OtherTerms',
      args: [dealId, await fixture.termsHash(dealId)],
    })
    expect((await prover.attempt('acceptDeal', [dealId, checked])).status).toBe('reverted')
    expect((await fixture.deal(dealId)).state).toBe(1)
  })

  it('does not bind a prover to another deal that has the number after a reorganisation', async () => {
    const before = await fixture.client.snapshot()
    const dealId = await propose()
    const checked = dealTermsHash(await termsOf(dealId))
    await fixture.client.revert({ id: before })
    expect(await propose({ commp: zeroHash })).toBe(dealId)
    await expect(prover.refusal('acceptDeal', [dealId, checked])).resolves.toMatchObject({ name: 'OtherTerms' })
    const same = await propose()
    await expect(prover.refusal('acceptDeal', [same, checked])).resolves.toMatchObject({ name: 'OtherTerms' })
    await prover.send('acceptDeal', [same, dealTermsHash(await termsOf(same))])
    expect((await fixture.deal(same)).commp).toBe(piece.commp)
  })

  it('has no hash once the deal is accepted', async () => {
    const dealId = await propose()
    await prover.send('acceptDeal', [dealId, await fixture.termsHash(dealId)])
    await expect(fixture.termsHash(dealId)).rejects.toThrow('WrongState')
  })
})
