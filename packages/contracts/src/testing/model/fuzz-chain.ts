import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import {
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  encodeFunctionData,
  getAddress,
  type Hex,
  type Log,
  numberToHex,
  parseAbi,
} from 'viem'
import { compileSources } from '../../../compile.ts'
import { ANVIL_KEY, startAnvil } from '../../anvil.ts'
import { encodeBlockHeader, type RpcBlockHeader } from '../../challenge/challenge.ts'
import { deployContracts, marketplaceAbi } from '../../contracts.ts'
import { HOSTILE_TOKEN } from '../hostile-token.ts'
import type { ModelSettings } from './market-model.ts'

export type MarketCall = ContractFunctionName<typeof marketplaceAbi, 'nonpayable'>
/** Enough for every call of a fuzz run. */
const GAS = numberToHex(8_000_000n)

export const tokenAbi = parseAbi([
  'function mint(address to, uint256 amount)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function freeze(address account, bool isNow)',
  'function pause(bool isNow)',
  'function fail(bool isQuiet)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function nonces(address owner) view returns (uint256)',
  'function callBack(address target, bytes data)',
  'function callsThatWorked() view returns (uint256)',
  'function calls() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
])

export interface Receipt {
  readonly isSuccess: boolean
  readonly block: number
  readonly logs: readonly Log[]
}

/**
 * A chain with a marketplace, driven by as few requests as there can be: anvil signs for its own accounts, makes a block for each
 * transaction, and each block is a second after the one before.
 */
export async function openFuzzChain(settings: ModelSettings, hardfork: string) {
  const anvil = await startAnvil({ hardfork, keepsHistory: false })
  const agent = new Agent({ keepAlive: true, maxSockets: 2 })
  const rpc = async <Result>(method: string, params: readonly unknown[]): Promise<Result> => {
    const [answer] = await rpcMany<Result>([{ method, params }])
    return answer as Result
  }
  const rpcMany = async <Result>(
    calls: readonly { method: string; params: readonly unknown[] }[],
  ): Promise<Result[]> => {
    const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })))
    const headers = { 'content-type': 'application/json' }
    const response = await new Promise<NodeJS.ReadableStream>((resolve, reject) => {
      request(anvil.rpcUrl, { method: 'POST', agent, headers }, resolve).once('error', reject).end(body)
    })
    const answers = JSON.parse(await text(response)) as { id: number; result?: Result; error?: unknown }[]
    return calls.map(({ method }, index) => {
      const answer = answers.find(({ id }) => id === index)
      if (answer === undefined || !('result' in answer)) throw new Error(`${method}: ${JSON.stringify(answer?.error)}`)
      return answer.result as Result
    })
  }

  const [compiled] = compileSources({ 'HostileToken.sol': HOSTILE_TOKEN })
  const accounts = (await rpc<Hex[]>('eth_accounts', [])).map((account) => getAddress(account))
  const deployer = accounts[0] ?? '0x'
  const send = async (
    from: Address,
    to: Address | undefined,
    data: Hex,
  ): Promise<Receipt & { readonly contract: Hex | null }> => {
    const receipt = await rpc<{ status: Hex; blockNumber: Hex; logs: Log[]; contractAddress: Hex | null }>(
      'eth_sendTransactionSync',
      [{ from, data, gas: GAS, ...(to === undefined ? {} : { to }) }],
    )
    const { status, blockNumber, logs, contractAddress } = receipt
    return { isSuccess: status === '0x1', block: Number(blockNumber), logs, contract: contractAddress }
  }
  const { contract: token } = await send(deployer, undefined, (compiled?.bytecode ?? '0x') as Hex)
  if (token === null) throw new Error('the token was not deployed')
  const { marketplace } = await deployContracts({
    ...{ rpcUrl: anvil.rpcUrl, privateKey: ANVIL_KEY, usdc: token, firstDealId: settings.firstDealId },
    ...{ provingPeriodSeconds: settings.periodSeconds, acceptanceWindowSeconds: settings.windowSeconds },
    seedDelayBlocks: settings.seedDelayBlocks,
  })
  await rpc('anvil_setBlockTimestampInterval', [1])
  const market = getAddress(marketplace)

  return {
    accounts,
    market,
    token: getAddress(token),
    send,
    rpc,
    call: <Name extends MarketCall>(
      from: Address,
      functionName: Name,
      args: ContractFunctionArgs<typeof marketplaceAbi, 'nonpayable', Name>,
    ) =>
      // biome-ignore lint/suspicious/noExplicitAny: viem cannot follow a name that is generic; the arguments are exact.
      send(from, market, encodeFunctionData({ abi: marketplaceAbi, functionName, args } as any)),
    /** The answers of views, in one request. */
    read: (calls: readonly { to: Address; data: Hex }[]) =>
      rpcMany<Hex>(calls.map((call) => ({ method: 'eth_call', params: [call, 'latest'] }))),
    async newest(): Promise<{ block: number; now: number }> {
      const { number, timestamp } = await rpc<{ number: Hex; timestamp: Hex }>('eth_getBlockByNumber', [
        'latest',
        false,
      ])
      return { block: Number(number), now: Number(timestamp) }
    },
    async header(number: number): Promise<{ header: Hex; seed: Hex }> {
      const block = await rpc<RpcBlockHeader>('eth_getBlockByNumber', [numberToHex(number), false])
      const header = encodeBlockHeader(block)
      if (header === undefined) throw new Error(`the header of block ${number} has another hash`)
      return { header, seed: block.mixHash }
    },
    async stop(): Promise<void> {
      agent.destroy()
      await anvil.stop()
    },
  }
}

export type FuzzChain = Awaited<ReturnType<typeof openFuzzChain>>
