import { deployContracts, marketplaceAbi, testUsdcAbi } from '@lade/contracts'
import { ANVIL_KEY, startAnvil } from '@lade/contracts/anvil'
import { type Address, createClient, type Hex, http, numberToHex, publicActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { onTestFinished } from 'vitest'

export const DAY_SECONDS = 86_400
/** A block comes every half an hour. */
export const BLOCKS_PER_DAY = 48
const BLOCK_SECONDS = DAY_SECONDS / BLOCKS_PER_DAY
const GWEI = 10n ** 9n
const COINS = 1_000n * 10n ** 18n

/** A chain with version 2 of the marketplace and periods of a day. Nobody mines but the test, which moves the time with each block. */
export type MonthChain = Awaited<ReturnType<typeof startMonthChain>>

/** Starts the chain; it ends with the test. @param keys - of accounts that have coins and `microUsdc` each: the client first. */
export async function startMonthChain(keys: readonly Hex[], microUsdc: bigint) {
  // More than a reorganisation takes back, and than are asked for.
  const anvil = await startAnvil({ keepsHistory: 100 })
  onTestFinished(() => anvil.stop())
  const { rpcUrl } = anvil
  const terms = { provingPeriodSeconds: DAY_SECONDS, acceptanceWindowSeconds: DAY_SECONDS }
  const { usdc, marketplace } = await deployContracts({ rpcUrl, privateKey: ANVIL_KEY, version: 2, ...terms })
  const client = createClient({ account: privateKeyToAccount(ANVIL_KEY), transport: http(rpcUrl, { retryCount: 0 }) })
    .extend(publicActions)
    .extend(walletActions)
  const ask = (method: string, params: readonly unknown[]) =>
    client.request<{ Method: string; Parameters: readonly unknown[]; ReturnType: unknown }>({ method, params })
  const token = { address: usdc, abi: testUsdcAbi } as const
  const accounts = keys.map((key) => privateKeyToAccount(key).address)
  for (const account of accounts) {
    await ask('anvil_setBalance', [account, numberToHex(COINS)])
    await client.writeContract({ ...token, functionName: 'mint', args: [account, microUsdc], chain: null })
  }
  await ask('evm_setAutomine', [false])
  let time = Number((await client.getBlock()).timestamp)
  let baseFeeGwei = 1n
  const contract = { address: marketplace, abi: marketplaceAbi } as const
  const mine = async (blocks: number, from: number): Promise<void> => {
    await ask('anvil_setNextBlockBaseFeePerGas', [numberToHex(baseFeeGwei * GWEI)])
    await ask('evm_setNextBlockTimestamp', [from + BLOCK_SECONDS])
    await ask('anvil_mine', [numberToHex(blocks), numberToHex(BLOCK_SECONDS)])
  }

  return {
    rpcUrl,
    usdc,
    marketplace,
    accounts,
    /** Of the newest block, in seconds since 1970. */
    get time(): number {
      return time
    },
    async mine(): Promise<void> {
      await mine(1, time)
      time += BLOCK_SECONDS
    },
    /** Replaces the newest blocks by as many at the same times, empty but for what comes meanwhile. What was in them is lost. */
    async reorganise(depth: number): Promise<void> {
      await ask('anvil_rollback', [depth])
      await mine(depth, time - depth * BLOCK_SECONDS)
    },
    /** What a unit of gas costs from now on. */
    setBaseFee(gwei: bigint): void {
      baseFeeGwei = gwei
    },
    balanceOf: (owner: Address) => client.readContract({ ...token, functionName: 'balanceOf', args: [owner] }),
    deal: (dealId: bigint) => client.readContract({ ...contract, functionName: 'deals', args: [dealId] }),
    endsAt: (dealId: bigint) => client.readContract({ ...contract, functionName: 'endsAt', args: [dealId] }),
    lastDealId: () => client.readContract({ ...contract, functionName: 'lastDealId' }),
    totals: (last: bigint) => client.readContract({ ...contract, functionName: 'totals', args: [1n, last] }),
    /** All events of the contract, with the times of their blocks. */
    async events() {
      const logs = await client.getContractEvents({ ...contract, fromBlock: 0n, toBlock: 'latest', strict: true })
      return logs.map((log) => ({ ...log, time: Number(log.blockTimestamp) }))
    },
  }
}

export type MonthEvent = Awaited<ReturnType<MonthChain['events']>>[number]
