import { hashPiece, makeLeafProof, paddedSizeBytes } from '@lade/core/piece'
import {
  type Address,
  BaseError,
  bytesToHex,
  type ContractFunctionArgs,
  type ContractFunctionName,
  ContractFunctionRevertedError,
  createClient,
  type Hex,
  http,
  maxUint256,
  publicActions,
  type TransactionReceipt,
  testActions,
  walletActions,
} from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { ANVIL_KEY, startAnvil } from '../anvil.ts'
import { deployContracts, marketplaceAbi, testUsdcAbi } from '../contracts.ts'

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

/** Bytes that a prover holds, and what a deal says about them. */
export interface Piece {
  readonly bytes: Uint8Array
  readonly commp: Hex
  readonly pieceSize: bigint
}

export interface FixtureOptions {
  /** The code of a token that is minted as `TestUsdc` is. @default `TestUsdc` */
  readonly token?: Hex
}

export type Fixture = Awaited<ReturnType<typeof openFixture>>

/** A chain of its own with a marketplace: a block for every transaction and otherwise on demand, and time likewise. */
export async function openFixture(options: FixtureOptions = {}) {
  const anvil = await startAnvil()
  const client = createClient({ transport: http(anvil.rpcUrl, { retryCount: 0 }), pollingInterval: 20 })
    .extend(publicActions)
    .extend(walletActions)
    .extend(testActions({ mode: 'anvil' }))
  const deployToken = async (bytecode: Hex): Promise<Address> => {
    const account = mnemonicToAccount(MNEMONIC)
    const hash = await client.deployContract({ abi: [], bytecode, account, chain: null })
    const { contractAddress } = await client.waitForTransactionReceipt({ hash })
    if (contractAddress == null) throw new Error('the token was not deployed')
    return contractAddress
  }
  const contracts = await deployContracts({
    rpcUrl: anvil.rpcUrl,
    privateKey: ANVIL_KEY,
    ...(options.token === undefined ? {} : { usdc: await deployToken(options.token) }),
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

  return {
    rpcUrl: anvil.rpcUrl,
    ...contracts,
    client,
    marketplaceCall: marketplace,
    usdcCall: usdc,
    client1: await actorOf(1),
    prover: await actorOf(2),
    stranger: await actorOf(3),
    deal,
    balance: (account: Address) => client.readContract({ ...usdc, functionName: 'balanceOf', args: [account] }),
    lastDealId: () => client.readContract({ ...marketplace, functionName: 'lastDealId' }),
    challengedLeaf: (dealId: bigint) =>
      client.readContract({ ...marketplace, functionName: 'challengedLeaf', args: [dealId] }),
    leafRefusal: (dealId: bigint) =>
      refusalOf(client.readContract({ ...marketplace, functionName: 'challengedLeaf', args: [dealId] })),
    now: async () => (await client.getBlock()).timestamp,
    async passSeconds(seconds: number) {
      await client.increaseTime({ seconds })
      await client.mine({ blocks: 1 })
    },
    /** The next block is of this time. */
    nextBlockAt: (timestamp: bigint) => client.setNextBlockTimestamp({ timestamp }),
    mine: (blocks: number) => client.mine({ blocks }),
    /** The arguments of `prove` for the challenge that is open. */
    async proofOf(dealId: bigint, piece: Piece): Promise<WriteArgs<'prove'>> {
      await client.mine({ blocks: 1 })
      const args = [dealId] as const
      const leaf = await client.readContract({ ...marketplace, functionName: 'challengedLeaf', args })
      const { leaf: bytes, proof } = await makeLeafProof({
        rawSizeBytes: piece.bytes.length,
        leafIndex: Number(leaf),
        readRaw: (offset, length) => piece.bytes.subarray(offset, offset + length),
      })
      return [dealId, bytesToHex(bytes), proof.map((sibling) => bytesToHex(sibling))]
    },
    stop: () => anvil.stop(),
  }
}

/** The piece of these bytes. */
export function pieceOf(bytes: Uint8Array): Piece {
  return { bytes, commp: bytesToHex(hashPiece(bytes).root), pieceSize: BigInt(paddedSizeBytes(bytes.length)) }
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
