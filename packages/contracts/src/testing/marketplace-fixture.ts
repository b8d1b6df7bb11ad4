import {
  type Address,
  BaseError,
  type ContractFunctionArgs,
  type ContractFunctionName,
  ContractFunctionRevertedError,
  createClient,
  type Hex,
  http,
  maxUint256,
  numberToHex,
  publicActions,
  type TransactionReceipt,
  testActions,
  walletActions,
  zeroAddress,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { ANVIL_KEY, startAnvil } from '../anvil.ts'
import { challengedLeaves, encodeBlockHeader, type RpcBlockHeader } from '../challenge/challenge.ts'
import { type DeployContractsOptions, deployContracts, marketplaceAbi, testUsdcAbi } from '../contracts.ts'
import type { Piece } from './pieces.ts'

export const PERIOD = 1_000
export const WINDOW = 5_000
/** Of anvil's accounts. */
const MNEMONIC = 'test test test test test test test test test test test junk'
/** Enough for everything here; an estimate would be wrong for a call that a moment of time decides about. */
const GAS = 5_000_000n

type WriteName = ContractFunctionName<typeof marketplaceAbi, 'nonpayable'>
type WriteArgs<Name extends WriteName> = ContractFunctionArgs<typeof marketplaceAbi, 'nonpayable', Name>

/** Why a call was refused: the name of the contract's error, and its arguments. */
export interface Refusal {
  readonly name: string | undefined
  readonly args: readonly unknown[]
}

/** Somebody with ether, USDC, and a standing approval for the marketplace. */
export interface Actor {
  readonly address: Address
  /** Sends it, in a block of its own. @throws {Error} when the contract refuses it. */
  send<Name extends WriteName>(functionName: Name, args: WriteArgs<Name>): Promise<TransactionReceipt>
  /** Sends it whatever comes of it, in a block of its own. */
  attempt<Name extends WriteName>(functionName: Name, args: WriteArgs<Name>): Promise<TransactionReceipt>
  /** Has it worked out on the newest block. @throws {Error} when the contract would take it. */
  refusal<Name extends WriteName>(functionName: Name, args: WriteArgs<Name>): Promise<Refusal>
}

export interface FixtureOptions extends Pick<DeployContractsOptions, 'firstDealId' | 'seedDelayBlocks'> {
  /** The code of a contract that answers the randomness of a block number. @default headers of blocks are used */
  readonly beacon?: Hex
  /** Of anvil. @default its newest */
  readonly hardfork?: string
  /** The code of a token that is minted as `TestUsdc` is. @default `TestUsdc` */
  readonly token?: Hex
}

export type Fixture = Awaited<ReturnType<typeof openFixture>>

/** A chain of its own with a marketplace: a block for every transaction and otherwise on demand, and time likewise. */
export async function openFixture(options: FixtureOptions = {}) {
  const { token, beacon: beaconCode, hardfork, ...deployment } = options
  const anvil = await startAnvil(hardfork === undefined ? {} : { hardfork })
  const client = createClient({ transport: http(anvil.rpcUrl, { retryCount: 0 }), pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions)
    .extend(testActions({ mode: 'anvil' }))
  const deployCode = async (bytecode: Hex): Promise<Address> => {
    const account = mnemonicToAccount(MNEMONIC)
    const hash = await client.deployContract({ abi: [], bytecode, account, chain: null })
    const { contractAddress } = await client.waitForTransactionReceipt({ hash })
    if (contractAddress == null) throw new Error('the contract was not deployed')
    return contractAddress
  }
  const beacon = beaconCode === undefined ? undefined : await deployCode(beaconCode)
  const contracts = await deployContracts({
    rpcUrl: anvil.rpcUrl,
    privateKey: ANVIL_KEY,
    ...(token === undefined ? {} : { usdc: await deployCode(token) }),
    ...(beacon === undefined ? {} : { beacon }),
    ...deployment,
    provingPeriodSeconds: PERIOD,
    acceptanceWindowSeconds: WINDOW,
  })
  await client.setAutomine(false)
  const usdc = { address: contracts.usdc, abi: testUsdcAbi, chain: null } as const
  const marketplace = { address: contracts.marketplace, abi: marketplaceAbi, chain: null } as const

  const included = async (hash: Hex) => {
    await client.mine({ blocks: 1 })
    return client.getTransactionReceipt({ hash })
  }
  const mined = async (hash: Hex) => {
    const receipt = await included(hash)
    if (receipt.status !== 'success') throw new Error(`${hash} was undone`)
    return receipt
  }

  const actorOf = async (index: number): Promise<Actor> => {
    const account = mnemonicToAccount(MNEMONIC, { addressIndex: index })
    const mint = [account.address, 10n ** 15n] as const
    await mined(await client.writeContract({ ...usdc, account, functionName: 'mint', args: mint }))
    const approve = [contracts.marketplace, maxUint256] as const
    await mined(await client.writeContract({ ...usdc, account, functionName: 'approve', args: approve }))
    const callOf = <Name extends WriteName>(functionName: Name, args: WriteArgs<Name>) => {
      // biome-ignore lint/suspicious/noExplicitAny: viem cannot follow a name that is generic; the types of `Actor` are exact.
      return { ...marketplace, account, functionName, args, gas: GAS } as any
    }
    return {
      address: account.address,
      send: async (functionName, args) => mined(await client.writeContract(callOf(functionName, args))),
      attempt: async (functionName, args) => included(await client.writeContract(callOf(functionName, args))),
      refusal: (functionName, args) => refusalOf(client.simulateContract(callOf(functionName, args))),
    }
  }

  const deal = (dealId: bigint) => client.readContract({ ...marketplace, functionName: 'deals', args: [dealId] })

  const rpcBlock = async (number: bigint): Promise<RpcBlockHeader> => {
    const params = [numberToHex(number), false] as [Hex, false]
    const block = await client.request({ method: 'eth_getBlockByNumber', params })
    if (block === null) throw new Error(`there is no block ${number}`)
    return block
  }
  const headerOf = async (number: bigint): Promise<Hex> => {
    const header = encodeBlockHeader(await rpcBlock(number))
    if (header === undefined) throw new Error(`the header of block ${number} has another hash`)
    return header
  }
  /** The words of `prove`, for leaves that are computed as a prover does it. */
  const nodesOf = async (dealId: bigint, piece: Piece): Promise<Hex[]> => {
    const { seedBlock, period, leafCount } = await deal(dealId)
    const { mixHash } = await rpcBlock(BigInt(seedBlock))
    const leaves = challengedLeaves({ seed: mixHash, dealId, period, leafCount })
    return (await Promise.all(leaves.map((leaf) => piece.nodesOf(leaf)))).flat()
  }

  return {
    rpcUrl: anvil.rpcUrl,
    ...contracts,
    beacon: beacon ?? zeroAddress,
    client,
    marketplaceCall: marketplace,
    usdcCall: usdc,
    client1: await actorOf(1),
    prover: await actorOf(2),
    stranger: await actorOf(3),
    deal,
    balance: (account: Address) => client.readContract({ ...usdc, functionName: 'balanceOf', args: [account] }),
    lastDealId: () => client.readContract({ ...marketplace, functionName: 'lastDealId' }),
    challengedLeaves: (dealId: bigint, header: Hex) =>
      client.readContract({ ...marketplace, functionName: 'challengedLeaves', args: [dealId, header] }),
    leavesRefusal: (dealId: bigint, header: Hex) =>
      refusalOf(client.readContract({ ...marketplace, functionName: 'challengedLeaves', args: [dealId, header] })),
    termsHash: (dealId: bigint) => client.readContract({ ...marketplace, functionName: 'termsHashOf', args: [dealId] }),
    rpcBlock,
    headerOf,
    now: async () => (await client.getBlock()).timestamp,
    async passSeconds(seconds: number) {
      await client.increaseTime({ seconds })
      await client.mine({ blocks: 1 })
    },
    /** The next block is of this time. */
    nextBlockAt: (timestamp: bigint) => client.setNextBlockTimestamp({ timestamp }),
    mine: (blocks: number) => client.mine({ blocks }),
    nodesOf,
    /** The arguments of `prove` for the challenge that is open; blocks are made until its leaves are drawn. */
    async proofOf(dealId: bigint, piece: Piece): Promise<WriteArgs<'prove'>> {
      const { seedBlock } = await deal(dealId)
      const newest = await client.getBlockNumber({ cacheTime: 0 })
      // One more than the proof needs: a call that is only worked out sees the number of the newest block.
      if (newest <= seedBlock) await client.mine({ blocks: Number(BigInt(seedBlock) - newest) + 1 })
      return [dealId, await headerOf(BigInt(seedBlock)), await nodesOf(dealId, piece)]
    },
    stop: () => anvil.stop(),
  }
}

async function refusalOf(asked: Promise<unknown>): Promise<Refusal> {
  const failure = await asked.then(
    () => undefined,
    (error: unknown) => error,
  )
  const reverted =
    failure instanceof BaseError ? failure.walk((error) => error instanceof ContractFunctionRevertedError) : undefined
  if (!(reverted instanceof ContractFunctionRevertedError)) {
    throw new Error('the contract does not refuse it', { cause: failure })
  }
  return { name: reverted.data?.errorName ?? reverted.reason, args: reverted.data?.args ?? [] }
}
