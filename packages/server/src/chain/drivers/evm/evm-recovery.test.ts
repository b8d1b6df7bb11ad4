import { marketplaceAbi } from '@lade/contracts'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DealProposal, MarketplaceCall } from '../../chain.ts'
import { type AnvilNetwork, acceptDeal, type EvmFixture, startAnvilNetwork } from './testing/anvil-network.ts'

const prover = privateKeyToAccount(generatePrivateKey())

describe.each([1, 2] as const)('with a marketplace of version %i', (version) => {
  let network: AnvilNetwork
  let fixture: EvmFixture
  beforeAll(async () => {
    network = await startAnvilNetwork({ version })
    fixture = await network.openFixture()
  })
  afterAll(async () => {
    await fixture.close()
    await network.stop()
  })

  it('withdraws, slashes and settles with gas to spare, and reads what became of each deal', async () => {
    const { marketplace } = fixture.chain
    const [market] = marketplace.contracts
    const contract = market.address
    const { client } = network
    const fees = await marketplace.fees()
    let nonce = 0
    const gasOf = async (call: MarketplaceCall) => {
      const { raw, hash } = await marketplace.sign({
        call,
        nonce,
        fees: { ...fees, maxFeePerGas: 4n * fees.maxFeePerGas },
      })
      nonce += 1
      await marketplace.send(raw)
      await fixture.mine()
      const { status, gasUsed } = await client.getTransactionReceipt({ hash })
      const { gas } = await client.getTransaction({ hash })
      expect(status, call.kind).toBe('success')
      expect(Number(gasUsed) / Number(gas), call.kind).toBeLessThan(0.8)
      const place = await marketplace.find(hash)
      return { gasUsed, dealIds: place.place === 'block' ? place.dealIds : [] }
    }
    const pass = async (seconds: number) => {
      await client.increaseTime({ seconds })
      await fixture.mine()
    }
    await gasOf({ kind: 'approve', contract })
    const periodSeconds = Number(
      await client.readContract({ address: network.marketplace, abi: marketplaceAbi, functionName: 'provingPeriod' }),
    )
    const deal: DealProposal = {
      prover: prover.address,
      pieceRoot: `${'3f'.repeat(31)}07`,
      paddedSizeBytes: 128,
      durationSeconds: 5 * periodSeconds,
      paymentMicroUsdc: 500n,
      leafCount: 4,
      bondMicroUsdc: 60n,
    }
    const { dealIds } = await gasOf({
      kind: 'propose',
      contract,
      deals: [deal, deal, { ...deal, durationSeconds: 2 * periodSeconds }, ...(version === 1 ? [] : [deal])],
    })
    const [withdrawn = 0n, slashed = 0n, settled = 0n, ended] = dealIds
    for (const dealId of [slashed, settled, ended]) if (dealId !== undefined) await acceptDeal(network, prover, dealId)
    const read = await market.deal(slashed)
    expect(read).toMatchObject({ state: 'active', periodMs: periodSeconds * 1000, missesInARow: 0 })
    expect((read?.endsAt ?? 0) - (read?.accountedUntil ?? 0)).toBe(5 * periodSeconds * 1000)
    const end = ended === undefined ? undefined : (await gasOf({ kind: 'end', contract, dealId: ended })).gasUsed
    await pass(3 * periodSeconds)
    if (ended !== undefined) await gasOf({ kind: 'settle', contract, dealId: ended })
    const used = {
      end,
      withdraw: (await gasOf({ kind: 'withdraw', contract, dealId: withdrawn })).gasUsed,
      slash: (await gasOf({ kind: 'slash', contract, dealId: slashed })).gasUsed,
      settle: (await gasOf({ kind: 'settle', contract, dealId: settled })).gasUsed,
    }
    for (const [dealId, state] of [
      [withdrawn, 'withdrawn'],
      [slashed, 'slashed'],
      [settled, 'settled'],
      [ended, 'settled'],
    ] as const) {
      if (dealId === undefined) continue
      await expect(market.deal(dealId)).resolves.toMatchObject({ state, refundableMicroUsdc: 0n })
      const events = await market.events({ from: 0, to: (await marketplace.head()).number })
      const own = events.filter((event) => event.dealId === dealId)
      const back = own.flatMap((event) => {
        if (event.kind === 'withdrawn') return event.microUsdc
        return event.kind === 'paid' && event.to === marketplace.account ? event.microUsdc : []
      })
      expect(
        back.reduce((sum, amount) => sum + amount, 0n),
        state,
      ).toBe(500n)
      const forfeited = own.reduce(
        (sum, event) => (event.kind === 'paid' && event.to === marketplace.account ? sum + event.bondMicroUsdc : sum),
        0n,
      )
      const lost = { withdrawn: 0n, slashed: 60n, settled: 12n }[state]
      expect(forfeited, state).toBe(version === 1 ? 0n : lost)
    }
    await expect(market.canPay()).resolves.toBe(true)
    process.stderr.write(
      `gas: ${JSON.stringify(used, (_, value) => (typeof value === 'bigint' ? Number(value) : value))}\n`,
    )
  })

  it('sees that a token refuses to pay', async () => {
    const { usdc } = network
    const code = await network.client.getCode({ address: usdc })
    await network.client.setCode({ address: usdc, bytecode: '0x5f5ffd' })
    await expect(fixture.chain.marketplace.contracts[0].canPay()).resolves.toBe(false)
    await network.client.setCode({ address: usdc, bytecode: code ?? '0x' })
    await expect(fixture.chain.marketplace.contracts[0].canPay()).resolves.toBe(true)
  })
})
