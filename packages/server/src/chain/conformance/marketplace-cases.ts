import { beforeEach, describe, expect, it } from 'vitest'
import type { Address, DealProposal, Fees, Hash, Marketplace, MarketplaceCall, MarketplaceContract } from '../chain.ts'
import { expectOffline } from './expect-offline.ts'
import type { ChainFixture } from './fixture.ts'

const PROVER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const UNKNOWN_HASH: Hash = `0x${'ab'.repeat(32)}`

function dealOf(seed: number): DealProposal {
  return {
    prover: PROVER,
    pieceRoot: seed.toString(16).padStart(2, '0').repeat(31).concat('00'),
    paddedSizeBytes: 128 * 2 ** (seed % 20),
    leafCount: 3,
    durationSeconds: 86_400 * 30 + seed,
    paymentMicroUsdc: BigInt(seed),
    bondMicroUsdc: BigInt(2 * seed),
  }
}

/** The promises of `Marketplace`. */
export function describeMarketplace(fixtureOf: () => ChainFixture): void {
  describe('marketplace', () => {
    let fixture: ChainFixture
    let marketplace: Marketplace
    let market: MarketplaceContract
    let contract: Address
    let fees: Fees
    beforeEach(async () => {
      fixture = fixtureOf()
      marketplace = fixture.chain.marketplace
      market = marketplace.contracts[0]
      contract = market.address
      fees = await marketplace.fees()
    })

    const proposing = (count: number): MarketplaceCall => ({
      kind: 'propose',
      contract,
      deals: Array.from({ length: count }, (_, index) => dealOf(index + 1)),
    })
    const sendSigned = async (call: MarketplaceCall | undefined, nonce: number, offered = fees) => {
      const request = { nonce, fees: offered }
      const signed = await (call === undefined
        ? marketplace.signEmpty(request)
        : marketplace.sign({ call, ...request }))
      return { ...signed, ...(await marketplace.send(signed.raw)) }
    }
    const approve = async () => {
      await sendSigned({ kind: 'approve', contract }, 0)
      await fixture.mine()
    }
    const blockOf = async (hash: Hash) => {
      const place = await marketplace.find(hash)
      if (place.place !== 'block') throw new Error(`${hash} is ${place.place} and not in a block`)
      return place
    }

    it('has an account that may be in blocks already, and fees to offer', async () => {
      expect(marketplace.account).toMatch(/^0x[0-9a-fA-F]{40}$/)
      expect(fees.maxFeePerGas).toBeGreaterThanOrEqual(fees.maxPriorityFeePerGas)
      await expect(marketplace.confirmedNonce()).resolves.toBe(0)
    })

    it('signs the same call, nonce and fees to the same transaction', async () => {
      const request = { call: proposing(3), nonce: 4, fees }
      const signed = await marketplace.sign(request)
      await expect(marketplace.sign(request)).resolves.toEqual(signed)
      await expect(marketplace.signEmpty(request)).resolves.toEqual(await marketplace.signEmpty(request))
      await expect(marketplace.sign({ ...request, nonce: 5 })).resolves.not.toEqual(signed)
      await expect(marketplace.sign({ ...request, call: proposing(2) })).resolves.not.toEqual(signed)
      const dearer = { ...fees, maxFeePerGas: fees.maxFeePerGas + 1n }
      await expect(marketplace.sign({ ...request, fees: dearer })).resolves.not.toEqual(signed)
    })

    it('signs what a transaction does again, with other fees, also while nobody answers', async () => {
      const { maxFeePerGas, maxPriorityFeePerGas } = fees
      const dearer = { ...fees, maxFeePerGas: maxFeePerGas * 2n, maxPriorityFeePerGas: maxPriorityFeePerGas * 2n }
      const both = (offered: Fees) =>
        Promise.all([
          marketplace.sign({ call: proposing(2), nonce: 3, fees: offered }),
          marketplace.signEmpty({ nonce: 3, fees: offered }),
        ])
      const [signed, wanted] = [await both(fees), await both(dearer)]
      await fixture.setOnline(false)
      const again = signed.map(({ raw }) => marketplace.signAgain({ raw, fees: dearer }))
      await expect(Promise.all(again)).resolves.toEqual(wanted)
    })

    it('wants an approval first, and none once it is in a block', async () => {
      await expect(market.prepare()).resolves.toEqual([{ kind: 'approve', contract }])
      await approve()
      await expect(market.prepare()).resolves.toEqual([])
    })

    it('proposes deals and finds their ids in the order of the proposals', async () => {
      await approve()
      const one = await sendSigned(proposing(1), 1)
      const three = await sendSigned(proposing(3), 2)
      expect([one.outcome, three.outcome]).toEqual(['accepted', 'accepted'])
      await expect(marketplace.find(one.hash)).resolves.toEqual({ place: 'pool' })
      await fixture.mine()
      const places = [await blockOf(one.hash), await blockOf(three.hash)]
      expect(places.map(({ succeeded }) => succeeded)).toEqual([true, true])
      expect(places.map(({ dealIds }) => dealIds.length)).toEqual([1, 3])
      const [first = 0n, ...later] = places.flatMap(({ dealIds }) => dealIds)
      expect(later).toEqual([first + 1n, first + 2n, first + 3n])
      await expect(marketplace.head()).resolves.toEqual(places[1]?.block)
    })

    it('extends a deal', async () => {
      await approve()
      const proposed = await sendSigned(proposing(1), 1)
      await fixture.mine()
      const [dealId = 0n] = (await blockOf(proposed.hash)).dealIds
      const extension = { kind: 'extend', contract, dealId, extraSeconds: 86_400, paymentMicroUsdc: 5n } as const
      const extended = await sendSigned(extension, 2)
      await fixture.mine()
      await expect(blockOf(extended.hash)).resolves.toMatchObject({ succeeded: true, dealIds: [] })
    })

    it('reads a deal, and what was said about it, up to its withdrawal', async () => {
      await approve()
      const before = await marketplace.head()
      const proposed = await sendSigned(proposing(2), 1)
      await fixture.mine()
      const { dealIds, block } = await blockOf(proposed.hash)
      const [dealId = 0n, other = 0n] = dealIds
      const read = await market.deal(dealId)
      expect(read).toMatchObject({ state: 'proposed', accountedUntil: 0, missesInARow: 0, refundableMicroUsdc: 0n })
      expect(read?.periodMs).toBeGreaterThan(0)
      expect(read?.acceptableUntil).toBeGreaterThan(read?.asOf ?? Infinity)
      await expect(market.deal(dealId + 1_000n)).resolves.toBeUndefined()
      const extension = { kind: 'extend', contract, dealId, extraSeconds: 86_400, paymentMicroUsdc: 5n } as const
      await sendSigned(extension, 2)
      await fixture.mine()
      const withdrawal = await sendSigned({ kind: 'withdraw', contract, dealId }, 3)
      const again = await sendSigned({ kind: 'withdraw', contract, dealId }, 4)
      await fixture.mine()
      await expect(blockOf(withdrawal.hash)).resolves.toMatchObject({ succeeded: true, dealIds: [] })
      await expect(blockOf(again.hash)).resolves.toMatchObject({ succeeded: false })
      await expect(market.deal(dealId)).resolves.toMatchObject({ state: 'withdrawn' })
      const { number: to } = await marketplace.head()
      const client = marketplace.account
      await expect(market.events({ from: before.number + 1, to })).resolves.toEqual([
        { dealId, kind: 'proposed', client, microUsdc: 1n },
        { dealId: other, kind: 'proposed', client, microUsdc: 2n },
        { dealId, kind: 'extended', extraMs: 86_400_000, microUsdc: 5n },
        { dealId, kind: 'withdrawn', microUsdc: 6n },
      ])
      await expect(market.events({ from: block.number + 1, to: block.number + 1 })).resolves.toHaveLength(1)
      await expect(market.canPay()).resolves.toBe(true)
    })

    it('ends an active deal after a notice of a period, where its contract can', async () => {
      await approve()
      const deal = { ...dealOf(1), prover: fixture.prover, paymentMicroUsdc: 3_000n, bondMicroUsdc: 70n }
      const proposed = await sendSigned({ kind: 'propose', contract, deals: [deal] }, 1)
      await fixture.mine()
      const [dealId = 0n] = (await blockOf(proposed.hash)).dealIds
      const { number } = await marketplace.head()
      await fixture.accept(dealId)
      const active = await market.deal(dealId)
      expect(active).toMatchObject({ state: 'active' })
      const { accountedUntil, periodMs, endsAt } = { accountedUntil: 0, periodMs: 0, endsAt: 0, ...active }
      const call = { kind: 'end', contract, dealId } as const
      if ((await market.version()) === 1) {
        await expect(marketplace.sign({ call, nonce: 2, fees })).rejects.toBeInstanceOf(TypeError)
        return
      }
      const ended = await sendSigned(call, 2)
      const again = await sendSigned(call, 3)
      await fixture.mine()
      await expect(blockOf(ended.hash)).resolves.toMatchObject({ succeeded: true, dealIds: [] })
      await expect(blockOf(again.hash)).resolves.toMatchObject({ succeeded: false })
      const noticeEndsAt = accountedUntil + 2 * periodMs
      await expect(market.deal(dealId)).resolves.toMatchObject({ state: 'ending', endsAt: noticeEndsAt })
      const { number: to } = await marketplace.head()
      const back = (3_000n * BigInt(endsAt - noticeEndsAt)) / BigInt(endsAt - accountedUntil)
      await expect(market.events({ from: number + 1, to })).resolves.toEqual([
        { dealId, kind: 'accepted', endsAt, bondMicroUsdc: 70n },
        { dealId, kind: 'ending', endsAt: noticeEndsAt },
        { dealId, kind: 'paid', to: marketplace.account, microUsdc: back, bondMicroUsdc: 0n },
      ])
    })

    it('settles and slashes nothing before its time', async () => {
      await approve()
      const proposed = await sendSigned(proposing(1), 1)
      await fixture.mine()
      const [dealId = 0n] = (await blockOf(proposed.hash)).dealIds
      const calls = [
        await sendSigned({ kind: 'settle', contract, dealId }, 2),
        await sendSigned({ kind: 'slash', contract, dealId }, 3),
      ]
      await fixture.mine()
      for (const { hash } of calls) await expect(blockOf(hash)).resolves.toMatchObject({ succeeded: false })
    })

    it('says of a transaction that was undone that it did not succeed', async () => {
      await approve()
      const extension = { kind: 'extend', contract, dealId: 2n ** 200n, extraSeconds: 1, paymentMicroUsdc: 0n } as const
      const { hash } = await sendSigned(extension, 1)
      await fixture.mine()
      await expect(blockOf(hash)).resolves.toMatchObject({ succeeded: false, dealIds: [] })
      await expect(marketplace.confirmedNonce()).resolves.toBe(2)
    })

    it('proposes nothing without an approval', async () => {
      const { hash } = await sendSigned(proposing(2), 0)
      await fixture.mine()
      await expect(blockOf(hash)).resolves.toMatchObject({ succeeded: false, dealIds: [] })
    })

    it('knows nothing of a transaction that was never sent', async () => {
      await expect(marketplace.find(UNKNOWN_HASH)).resolves.toEqual({ place: 'unknown' })
    })

    it('takes the same transaction as often as it comes, and says when its nonce is used up', async () => {
      const sent = await sendSigned(undefined, 0)
      await expect(marketplace.send(sent.raw)).resolves.toEqual({ outcome: 'accepted' })
      await fixture.mine()
      await expect(marketplace.send(sent.raw)).resolves.toEqual({ outcome: 'nonce_used' })
      const late = await sendSigned({ kind: 'approve', contract }, 0)
      expect(late.outcome).toBe('nonce_used')
    })

    it('replaces a transaction by one of its nonce that offers enough more', async () => {
      const first = await sendSigned({ kind: 'approve', contract }, 0)
      expect((await sendSigned(undefined, 0)).outcome).toBe('underpriced')
      const aQuarterMore = {
        ...fees,
        maxFeePerGas: (fees.maxFeePerGas * 5n) / 4n,
        maxPriorityFeePerGas: (fees.maxPriorityFeePerGas * 5n) / 4n,
      }
      const second = await sendSigned({ kind: 'approve', contract }, 0, aQuarterMore)
      expect(second.outcome).toBe('accepted')
      await fixture.mine()
      await expect(marketplace.find(first.hash)).resolves.toEqual({ place: 'unknown' })
      await expect(blockOf(second.hash)).resolves.toMatchObject({ succeeded: true })
    })

    it('holds a transaction back until the nonces before it are used', async () => {
      const second = await sendSigned(undefined, 1)
      expect(second.outcome).toBe('accepted')
      await fixture.mine()
      await expect(marketplace.find(second.hash)).resolves.toEqual({ place: 'pool' })
      await expect(marketplace.confirmedNonce()).resolves.toBe(0)
      const first = await sendSigned(undefined, 0)
      await fixture.mine()
      await expect(blockOf(first.hash)).resolves.toMatchObject({ succeeded: true, dealIds: [] })
      await expect(blockOf(second.hash)).resolves.toMatchObject({ succeeded: true, dealIds: [] })
      await expect(marketplace.confirmedNonce()).resolves.toBe(2)
    })

    it('says what the nonce was at a block of the past', async () => {
      const before = await marketplace.head()
      await sendSigned(undefined, 0)
      await fixture.mine(3)
      await expect(marketplace.nonceAt(before.number)).resolves.toBe(0)
      await expect(marketplace.nonceAt(before.number + 1)).resolves.toBe(1)
      await expectOffline(marketplace.nonceAt(before.number + 1_000))
      await expectOffline(marketplace.nonceAt(-1))
    })

    it('does not take less than the block asks for', async () => {
      const { outcome } = await sendSigned(undefined, 0, { ...fees, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n })
      expect(outcome).toBe('underpriced')
    })

    it('finds a transaction again after its block is gone', async () => {
      const sent = await sendSigned({ kind: 'approve', contract }, 0)
      await fixture.mine(2)
      const before = await blockOf(sent.hash)
      await fixture.reorganise(2)
      expect((await marketplace.find(sent.hash)).place).not.toBe('block')
      await expect(marketplace.confirmedNonce()).resolves.toBe(0)
      await expect(marketplace.send(sent.raw)).resolves.toEqual({ outcome: 'accepted' })
      await fixture.mine()
      const after = await blockOf(sent.hash)
      expect(after.block.hash).not.toBe(before.block.hash)
      expect(after.succeeded).toBe(true)
    })

    it('takes a transaction again that the network forgot', async () => {
      const sent = await sendSigned(undefined, 0)
      await fixture.drop(sent.hash)
      await expect(marketplace.find(sent.hash)).resolves.toEqual({ place: 'unknown' })
      await expect(marketplace.send(sent.raw)).resolves.toEqual({ outcome: 'accepted' })
      await fixture.mine()
      await expect(blockOf(sent.hash)).resolves.toMatchObject({ succeeded: true })
    })

    it('moves its head with every block', async () => {
      const before = await marketplace.head()
      await fixture.mine(3)
      const after = await marketplace.head()
      expect(after.number).toBe(before.number + 3)
      expect(after.hash).not.toBe(before.hash)
    })

    it('error: offline, for every question', async () => {
      const { raw, hash } = await marketplace.signEmpty({ nonce: 0, fees })
      await fixture.setOnline(false)
      await expectOffline(marketplace.fees())
      await expectOffline(marketplace.confirmedNonce())
      await expectOffline(marketplace.nonceAt(0))
      await expectOffline(market.prepare())
      await expectOffline(marketplace.send(raw))
      await expectOffline(marketplace.find(hash))
      await expectOffline(marketplace.head())
      await expectOffline(market.deal(1n))
      await expectOffline(market.events({ from: 0, to: 0 }))
      await expectOffline(market.canPay())
    })
  })
}
