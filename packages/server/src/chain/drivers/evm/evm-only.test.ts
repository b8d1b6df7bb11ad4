import { deployContracts, marketplaceAbi } from '@lade/contracts'
import { ANVIL_KEY } from '@lade/contracts/anvil'
import { LadeError } from '@lade/core/errors'
import { parseTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DealProposal, MarketplaceCall } from '../../chain.ts'
import { messageOf, signer, signFor } from '../../conformance/signatures.ts'
import { openEvmChain } from './evm-chain.ts'
import { type AnvilNetwork, startAnvilNetwork } from './testing/anvil-network.ts'
import { openRelay } from './testing/relay.ts'
import { WrongNode } from './wrong-node.ts'

const PROVER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const ZERO = '0x0000000000000000000000000000000000000000'
const deal: DealProposal = {
  prover: PROVER,
  pieceRoot: `${'3f'.repeat(31)}07`,
  paddedSizeBytes: 2 ** 35,
  durationSeconds: 90 * 86_400,
  paymentMicroUsdc: 1_234_567n,
  leafCount: 4,
  bondMicroUsdc: 60n,
}

describe('evm only', () => {
  let network: AnvilNetwork
  beforeAll(async () => {
    network = await startAnvilNetwork()
  })
  afterAll(() => network.stop())

  describe('openEvmChain', () => {
    it('learns the chain id from the node', async () => {
      const chain = await openEvmChain({ rpcUrl: network.rpcUrl, usdc: network.usdc })
      expect(chain.chainId).toBe(31_337)
      expect(chain.marketplace).toBeUndefined()
    })

    it('error: a node of another chain, another token, another marketplace', async () => {
      const { rpcUrl, usdc, marketplace } = network
      const wrong = [
        { rpcUrl, usdc, chainId: 8453 },
        { rpcUrl, usdc: ZERO },
        { rpcUrl, usdc: marketplace },
        { rpcUrl, usdc, marketplaces: [ZERO] },
        { rpcUrl, usdc, marketplaces: [marketplace, usdc] },
      ] as const
      for (const options of wrong) await expect(openEvmChain(options)).rejects.toBeInstanceOf(WrongNode)
    })

    it('opens out of reach when it knows the chain, and trusts the node once it proved itself', async () => {
      const relay = await openRelay(network.rpcUrl)
      relay.setOnline(false)
      const options = { rpcUrl: relay.url, usdc: network.usdc, timeoutMs: 2_000 }
      await expect(openEvmChain(options)).rejects.toHaveProperty('code', 'chain_offline')
      const chain = await openEvmChain({ ...options, chainId: 31_337 })
      const wrong = await openEvmChain({ ...options, chainId: 1 })
      relay.setOnline(true)
      await expect(chain.usdcBalance(PROVER)).resolves.toBe(0n)
      const failure = await wrong.usdcBalance(PROVER).catch((error: unknown) => error)
      expect(LadeError.has(failure, 'chain_offline') && failure.cause).toBeInstanceOf(WrongNode)
      await expect(wrong.check()).rejects.toHaveProperty('code', 'chain_offline')
      await relay.close()
    })
  })

  it('asks for a balance once in a while, however often it is wanted', async () => {
    const fixture = await network.openFixture({ balanceMaxAgeMs: 60_000 })
    const account = await fixture.fundedAccount(5n)
    fixture.relay.asked.length = 0
    await Promise.all(Array.from({ length: 50 }, () => fixture.chain.usdcBalance(account)))
    await network.mint(account, 1n)
    await expect(fixture.chain.usdcBalance(account)).resolves.toBe(5n)
    expect(fixture.relay.asked.map(({ method }) => method)).toEqual(['eth_call'])
    await fixture.close()
  })

  it('asks the node nothing about a signature by a key', async () => {
    const fixture = await network.openFixture()
    fixture.relay.asked.length = 0
    const message = messageOf('hello')
    await fixture.chain.isSignedBy({ account: signer.address, message, signature: await signFor(message) })
    expect(fixture.relay.asked).toEqual([])
    await fixture.close()
  })

  it('writes every field of a proposal to the chain', async () => {
    const fixture = await network.openFixture()
    const { marketplace } = fixture.chain
    const contract = network.marketplace
    const fees = await marketplace.fees()
    await marketplace.send((await marketplace.sign({ call: { kind: 'approve', contract }, nonce: 0, fees })).raw)
    const call: MarketplaceCall = { kind: 'propose', contract, deals: [deal, { ...deal, paymentMicroUsdc: 0n }] }
    const { raw, hash } = await marketplace.sign({ call, nonce: 1, fees })
    await marketplace.send(raw)
    await fixture.mine()
    const place = await marketplace.find(hash)
    const [dealId = 0n] = place.place === 'block' ? place.dealIds : []
    const read = { address: network.marketplace, abi: marketplaceAbi, functionName: 'deals', args: [dealId] } as const
    await expect(network.client.readContract(read)).resolves.toMatchObject({
      client: marketplace.account,
      prover: PROVER,
      commp: `0x${deal.pieceRoot}`,
      pieceSize: 2n ** 35n,
      leafCount: BigInt(deal.leafCount),
      duration: deal.durationSeconds,
      remaining: deal.paymentMicroUsdc,
      bond: deal.bondMicroUsdc,
    })
    await fixture.close()
  })

  it('gives transactions enough gas and to spare', async () => {
    const fixture = await network.openFixture()
    const { marketplace } = fixture.chain
    const contract = network.marketplace
    const fees = await marketplace.fees()
    const shareUsed = async (call: MarketplaceCall, nonce: number) => {
      const { raw, hash } = await marketplace.sign({ call, nonce, fees })
      await marketplace.send(raw)
      await fixture.mine()
      const { status, gasUsed } = await network.client.getTransactionReceipt({ hash })
      const { gas } = await network.client.getTransaction({ hash })
      const place = await marketplace.find(hash)
      expect(status).toBe('success')
      return { gasUsed, share: Number(gasUsed) / Number(gas), dealIds: place.place === 'block' ? place.dealIds : [] }
    }
    const batch = (count: number): MarketplaceCall => ({ kind: 'propose', contract, deals: Array(count).fill(deal) })
    const used = [
      await shareUsed({ kind: 'approve', contract }, 0),
      await shareUsed(batch(1), 1),
      await shareUsed(batch(40), 2),
    ]
    const dealId = used[2]?.dealIds[39] ?? 0n
    used.push(await shareUsed({ kind: 'extend', contract, dealId, extraSeconds: 60, paymentMicroUsdc: 9n }, 3))
    process.stderr.write(`shares: ${JSON.stringify(used.map(({ share, gasUsed }) => [share, Number(gasUsed)]))}\n`)
    for (const { share } of used) expect(share).toBeLessThan(0.8)
    expect(used[2]?.dealIds).toHaveLength(40)
    await fixture.close()
  })

  it('gives a transaction a quarter more gas than the node estimates, where that is more, and nothing while it does not answer', async () => {
    const fixture = await network.openFixture()
    const { marketplace } = fixture.chain
    const request = {
      call: { kind: 'approve', contract: network.marketplace },
      nonce: 0,
      fees: await marketplace.fees(),
    } as const
    const gasOf = async () => parseTransaction((await marketplace.sign(request)).raw).gas
    const usual = await gasOf()
    const answer = (of: object) =>
      fixture.relay.answerBy(({ method }) =>
        method === 'eth_estimateGas'
          ? { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...of }) }
          : undefined,
      )
    answer({ result: '0xf4240' })
    expect(await gasOf(), 'a chain that counts gas in another way').toBe(1_250_000n)
    answer({ error: { code: 3, message: 'execution reverted' } })
    expect(await gasOf(), 'what would fail now').toBe(usual)
    await fixture.setOnline(false)
    await expect(gasOf()).rejects.toHaveProperty('code', 'chain_offline')
    await fixture.close()
  })

  it('error: refused for want of funds, in the words of the node', async () => {
    const fixture = await network.openFixture()
    const { marketplace } = fixture.chain
    await network.client.setBalance({ address: marketplace.account, value: 1n })
    const { raw } = await marketplace.signEmpty({ nonce: 0, fees: await marketplace.fees() })
    const outcome = await marketplace.send(raw)
    expect(outcome).toMatchObject({ outcome: 'refused', reason: expect.stringMatching(/insufficient funds/i) })
    await expect(marketplace.send('0x02c0')).resolves.toHaveProperty('outcome', 'refused')
    await fixture.close()
  })

  it('counts the deals of the contract that a transaction calls, also when that is not configured', async () => {
    await network.client.setAutomine(true)
    const { marketplace: other } = await deployContracts({
      ...{ rpcUrl: network.rpcUrl, privateKey: ANVIL_KEY, usdc: network.usdc },
    })
    await network.client.setAutomine(false)
    const elsewhere = await network.openFixture({ marketplaces: [other] })
    const { marketplace } = elsewhere.chain
    const contract = other
    const fees = await marketplace.fees()
    await marketplace.send((await marketplace.sign({ call: { kind: 'approve', contract }, nonce: 0, fees })).raw)
    const { raw, hash } = await marketplace.sign({ call: { kind: 'propose', contract, deals: [deal] }, nonce: 1, fees })
    await marketplace.send(raw)
    await elsewhere.mine()
    await expect(marketplace.find(hash)).resolves.toMatchObject({ succeeded: true, dealIds: [1n] })
    const fixture = await network.openFixture()
    await expect(fixture.chain.marketplace.find(hash)).resolves.toMatchObject({ succeeded: true, dealIds: [1n] })
    await Promise.all([fixture.close(), elsewhere.close()])
  })
})
