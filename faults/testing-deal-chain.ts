import { deployContracts, marketplaceV1Abi, testUsdcAbi } from '@lade/contracts'
import { ANVIL_KEY, type Anvil, startAnvil } from '@lade/contracts/anvil'
import type { DealMaking, DealMakingOptions } from '@lade/server/testing/deal-making'
import { type Address, createClient, http, publicActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { onTestFinished } from 'vitest'

/** The private key of anvil's second account; it makes the deals. */
const OPERATOR_KEY = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const GWEI = 10n ** 9n
const PROVER: Address = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

type Hash = `0x${string}`
/** What waits for a block, by account and nonce, at once or after other transactions. */
type Pool = Partial<Record<'pending' | 'queued', Record<string, Record<string, { readonly hash: Hash }>>>>

/** A staged copy, as far as the chain is concerned. */
type Staged = Awaited<ReturnType<DealMaking['stage']>>

/** An anvil that makes blocks when it is told to, with the contracts on it and an operator who has USDC. */
export interface DealChain {
  readonly anvil: Anvil
  /** What a proposer on this chain is opened with, but for its records and its address of the node. */
  readonly options: Pick<DealMakingOptions, 'usdc' | 'marketplaces' | 'privateKey' | 'prover'>
  mine(blocks?: number): Promise<void>
  /** The chain's clock goes forward, with a block. */
  pass(seconds: number): Promise<void>
  /** The prover accepts a deal, in a block of its own. */
  accept(dealId: string): Promise<void>
  /** What the operator has, and what the marketplace holds, in units of 10⁻⁶ USDC. */
  balances(): Promise<{ readonly operator: bigint; readonly marketplace: bigint }>
  balanceOf(account: Address): Promise<bigint>
  /** A block for every transaction by itself, or none. */
  setAutomine(isOn: boolean): Promise<void>
  /** Replaces the newest blocks by as many empty ones. */
  reorganise(depth: number): Promise<void>
  /** Hashes of the operator's transactions that wait for a block. */
  waiting(): Promise<readonly Hash[]>
  /** The network forgets a transaction that waits. */
  drop(hash: Hash): Promise<void>
  /** Somebody else who has the operator's key uses its next nonce. */
  useNonceElsewhere(): Promise<void>
  /** The ids of the deals that the chain has for each piece root. */
  dealIds(): Promise<ReadonlyMap<string, readonly string[]>>
}

/** Starts the chain, with version 1 of the marketplace; it ends with the running test. */
export async function startDealChain(provingPeriodSeconds = 3_600): Promise<DealChain> {
  const anvil = await startAnvil()
  onTestFinished(() => anvil.stop())
  const { rpcUrl } = anvil
  const { usdc, marketplace } = await deployContracts({
    rpcUrl,
    privateKey: ANVIL_KEY,
    version: 1,
    provingPeriodSeconds,
  })
  const operator = privateKeyToAccount(OPERATOR_KEY)
  const client = createClient({ account: operator, transport: http(rpcUrl, { retryCount: 0 }), pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions)
  const ask = (method: string, params: readonly unknown[]) =>
    client.request<{ Method: string; Parameters: readonly unknown[]; ReturnType: unknown }>({ method, params })
  const mint = await client.writeContract({
    address: usdc,
    abi: testUsdcAbi,
    functionName: 'mint',
    args: [operator.address, 10n ** 15n],
    chain: null,
  })
  await client.waitForTransactionReceipt({ hash: mint })
  await ask('evm_setAutomine', [false])

  const waiting = async (): Promise<readonly Hash[]> => {
    const { pending = {}, queued = {} }: Pool = Object(await ask('txpool_content', []))
    const transactions = [pending, queued].flatMap((byAccount) => Object.values(byAccount).flatMap(Object.values))
    return transactions.map(({ hash }) => hash)
  }
  let elsewhere: Hash | undefined
  /** Tells one transaction of somebody else from the next. */
  let value = 0n

  return {
    anvil,
    options: { usdc, marketplaces: [marketplace], privateKey: OPERATOR_KEY, prover: PROVER },
    async mine(blocks = 1) {
      await ask('anvil_mine', [blocks])
    },
    async pass(seconds) {
      await ask('evm_increaseTime', [seconds])
      await ask('anvil_mine', [1])
    },
    async accept(dealId) {
      await ask('anvil_setBalance', [PROVER, '0xde0b6b3a7640000'])
      await ask('anvil_impersonateAccount', [PROVER])
      const args = [BigInt(dealId)] as const
      const call = {
        address: marketplace,
        abi: marketplaceV1Abi,
        functionName: 'acceptDeal',
        args,
        chain: null,
      } as const
      await client.writeContract({ ...call, account: PROVER })
      await ask('anvil_mine', [1])
    },
    async balances() {
      const balanceOf = (owner: Address) =>
        client.readContract({ address: usdc, abi: testUsdcAbi, functionName: 'balanceOf', args: [owner] })
      return { operator: await balanceOf(operator.address), marketplace: await balanceOf(marketplace) }
    },
    balanceOf: (account) =>
      client.readContract({ address: usdc, abi: testUsdcAbi, functionName: 'balanceOf', args: [account] }),
    async setAutomine(isOn) {
      await ask('evm_setAutomine', [isOn])
    },
    async reorganise(depth) {
      await ask('anvil_reorg', [depth, []])
    },
    waiting,
    async drop(hash) {
      await ask('anvil_dropTransaction', [hash])
    },
    async useNonceElsewhere() {
      if (elsewhere !== undefined && (await waiting()).includes(elsewhere)) return
      const nonce = await client.getTransactionCount({ address: operator.address, blockTag: 'latest' })
      value += 1n
      // Twice the cap of a proposer, so that it takes the place of whatever waits.
      const fees = { maxFeePerGas: 20_000n * GWEI, maxPriorityFeePerGas: 20_000n * GWEI }
      elsewhere = await client.sendTransaction({
        to: operator.address,
        nonce,
        value,
        gas: 21_000n,
        ...fees,
        chain: null,
      })
    },
    async dealIds() {
      const logs = await client.getContractEvents({
        address: marketplace,
        abi: marketplaceV1Abi,
        eventName: 'DealProposed',
        fromBlock: 0n,
        toBlock: 'latest',
      })
      const byRoot = Map.groupBy(logs, ({ args }) => String(args.commp).slice(2))
      return new Map([...byRoot].map(([root, deals]) => [root, deals.map(({ args }) => String(args.dealId))]))
    },
  }
}

/** Sentences about what must never be: a second deal, or a final one that the chain has not. */
export async function brokenDeals(
  chain: DealChain,
  making: Pick<DealMaking, 'dealsOf'>,
  staged: readonly Staged[],
): Promise<readonly string[]> {
  const records = await making.dealsOf(staged)
  const onchain = await chain.dealIds()
  const sentences: string[] = []
  for (const [root, ids] of onchain) if (ids.length > 1) sentences.push(`${root} has the deals ${ids.join(', ')}`)
  const byCopy = new Map(records.map((record) => [record.copy, record]))
  for (const { copy, pieceRoot } of staged) {
    const record = byCopy.get(copy)
    const id = onchain.get(pieceRoot)?.[0] ?? null
    if (record?.state === 'final' && record.onchainId !== id) {
      sentences.push(`copy ${copy} is final as ${record.onchainId}, and the chain has ${id}`)
    }
    if (record?.state === 'failed') sentences.push(`copy ${copy} has failed`)
  }
  return sentences
}

/** How many deals are not final, and transactions not settled, by state; empty when all is done. */
export async function unfinished(
  making: Pick<DealMaking, 'dealsOf' | 'unsettled'>,
  staged: readonly Staged[],
): Promise<readonly string[]> {
  const records = await making.dealsOf(staged)
  const open = records.filter(({ state }) => state !== 'final').map(({ copy, state }) => `copy ${copy} is ${state}`)
  const missing = staged.length - records.length
  const transactions = (await making.unsettled()).map(({ nonce, state }) => `transaction ${nonce} is ${state}`)
  return [...open, ...(missing > 0 ? [`${missing} copies have no deal`] : []), ...transactions]
}
