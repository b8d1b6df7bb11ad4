import { marketplaceV1Abi } from '@lade/contracts'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DealProposal, MarketplaceCall } from '../../chain.ts'
import { type AnvilNetwork, type EvmFixture, startAnvilNetwork } from './testing/anvil-network.ts'

const ETHER = 10n ** 18n
const prover = privateKeyToAccount(generatePrivateKey())

let network: AnvilNetwork
let fixture: EvmFixture
beforeAll(async () => {
  network = await startAnvilNetwork()
  fixture = await network.openFixture()
  await network.client.setBalance({ address: prover.address, value: ETHER })
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
    await client.readContract({ address: network.marketplace, abi: marketplaceV1Abi, functionName: 'provingPeriod' }),
  )
  const deal: DealProposal = {
    prover: prover.address,
    pieceRoot: `${'3f'.repeat(31)}07`,
    paddedSizeBytes: 128,
    durationSeconds: 5 * periodSeconds,
    paymentMicroUsdc: 500n,
  }
  const { dealIds } = await gasOf({
    kind: 'propose',
    contract,
    deals: [deal, deal, { ...deal, durationSeconds: 2 * periodSeconds }],
  })
  const [withdrawn = 0n, slashed = 0n, settled = 0n] = dealIds
  for (const dealId of [slashed, settled]) {
    const { address, abi } = { address: network.marketplace, abi: marketplaceV1Abi }
    await client.writeContract({
      address,
      abi,
      functionName: 'acceptDeal',
      args: [dealId],
      account: prover,
      chain: null,
    })
    await fixture.mine()
  }
  const read = await market.deal(slashed)
  expect(read).toMatchObject({ state: 'active', periodMs: periodSeconds * 1000, missesInARow: 0 })
  expect((read?.endsAt ?? 0) - (read?.accountedUntil ?? 0)).toBe(5 * periodSeconds * 1000)
  await pass(3 * periodSeconds)
  const used = {
    withdraw: (await gasOf({ kind: 'withdraw', contract, dealId: withdrawn })).gasUsed,
    slash: (await gasOf({ kind: 'slash', contract, dealId: slashed })).gasUsed,
    settle: (await gasOf({ kind: 'settle', contract, dealId: settled })).gasUsed,
  }
  for (const [dealId, state] of [
    [withdrawn, 'withdrawn'],
    [slashed, 'slashed'],
    [settled, 'settled'],
  ] as const) {
    await expect(market.deal(dealId)).resolves.toMatchObject({ state, refundableMicroUsdc: 0n })
    const events = await market.events({ from: 0, to: (await marketplace.head()).number })
    const own = events.filter((event) => event.dealId === dealId)
    const back = own.flatMap((event) => {
      if (event.kind === 'withdrawn') return event.microUsdc
      return event.kind === 'paid' && event.to === marketplace.account ? event.microUsdc : []
    })
    expect(back.reduce((sum, amount) => sum + amount, 0n)).toBe(500n)
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
