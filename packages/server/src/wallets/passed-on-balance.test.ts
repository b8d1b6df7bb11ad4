import { afterAll, beforeAll, expect, it } from 'vitest'
import { openEvmChain } from '../chain/drivers/evm/evm-chain.ts'
import { type AnvilNetwork, type EvmFixture, startAnvilNetwork } from '../chain/drivers/evm/testing/anvil-network.ts'
import { openRelay } from '../chain/drivers/evm/testing/relay.ts'
import { walletQuotaBytes } from './wallet-quota.ts'

const GIB = 2 ** 30
const WALLETS = 10
const WINDOW_BLOCKS = 128
const USDC = 1_000_000n

let network: AnvilNetwork
let fixture: EvmFixture
beforeAll(async () => {
  network = await startAnvilNetwork()
  fixture = await network.openFixture()
})
afterAll(async () => {
  await fixture.close()
  await network.stop()
})

const quotaOf = (address: `0x${string}`, chain = fixture.chain) =>
  walletQuotaBytes({ chain, microUsdcPerGib: USDC }, { chainId: chain.chainId, address })

it.each([
  ['at once', 0],
  ['over the whole window, again and again', Math.floor(WINDOW_BLOCKS / WALLETS) - 2],
])('1 USDC that is passed through 10 wallets %s is a quota of 1 GiB in all', async (_, pauseBlocks) => {
  const first = await fixture.fundedAccount(USDC)
  const others: (typeof first)[] = []
  while (others.length < WALLETS - 1) others.push(await fixture.fundedAccount(0n))
  await fixture.mine(WINDOW_BLOCKS)
  expect(await quotaOf(first), 'a wallet that did not move is not delayed').toBe(GIB)
  let quotaBytes = GIB
  let holder = first
  const rounds = pauseBlocks === 0 ? 1 : 2
  for (const next of Array.from({ length: rounds }, () => [...others, first]).flat()) {
    await fixture.moveUsdc(holder, next, USDC)
    await fixture.mine(pauseBlocks + 1)
    holder = next
    quotaBytes += await quotaOf(holder)
  }
  expect(quotaBytes).toBe(GIB)
})

it('is found by a node that returns the events of ten blocks at a time', async () => {
  const relay = await openRelay(network.rpcUrl)
  const refusal = { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'up to a 10 block range' } }
  relay.answerBy(({ method, params }) => {
    const { fromBlock, toBlock }: { fromBlock?: unknown; toBlock?: unknown } = Object(params[0])
    const isLong = method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) >= 10
    return isLong ? { status: 400, body: JSON.stringify(refusal) } : undefined
  })
  const chain = await openEvmChain({ rpcUrl: relay.url, usdc: network.usdc, balanceMaxAgeMs: 0 })
  const [payer, payee] = [await fixture.fundedAccount(USDC), await fixture.fundedAccount(0n)]
  await fixture.mine(WINDOW_BLOCKS)
  await fixture.moveUsdc(payer, payee, USDC / 2n)
  await fixture.mine(WINDOW_BLOCKS - 2)
  expect([await chain.leastUsdcBalance(payer), await chain.leastUsdcBalance(payee)]).toEqual([USDC / 2n, 0n])
  await fixture.mine()
  expect(await chain.leastUsdcBalance(payee)).toBe(USDC / 2n)
  await relay.close()
})
