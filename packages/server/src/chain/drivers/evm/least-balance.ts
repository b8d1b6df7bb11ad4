import { encodeFunctionData, erc20Abi, pad, parseAbiItem, toEventSelector } from 'viem'
import type { Address } from '../../chain.ts'
import { callContract, readQuantity } from './contract-call.ts'
import { ask, chainOffline, type JsonRpc, RpcRefusal } from './json-rpc.ts'

const TRANSFER = toEventSelector(
  parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)'),
)

/** The fields that are read of the log of a transfer. */
interface TransferLog {
  readonly address: unknown
  readonly blockNumber: unknown
  readonly data: unknown
}

interface Movement {
  readonly block: number
  /** What it added to the account. */
  readonly change: bigint
}

/** How many blocks the node is asked about at a time; some return the events of only a few. */
export interface LogRange {
  blocks: number
}

/**
 * The least that an account held at the end of any of the newest blocks. It is the balance now, with the transfers of these blocks undone one
 * after another, so that no block is left out between two questions, and no state of the past is needed.
 *
 * The token moves balances only by transfers that it tells, as ERC-20 asks of it.
 *
 * @param windowBlocks - how many blocks, the newest included.
 * @throws {LadeError} `chain_offline`.
 */
export async function leastBalance(
  rpc: JsonRpc,
  { usdc, owner, windowBlocks }: { readonly usdc: Address; readonly owner: Address; readonly windowBlocks: number },
  range: LogRange,
): Promise<bigint> {
  const head = Number(readQuantity(await ask(rpc, 'eth_blockNumber', [])))
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner] })
  let balance = readQuantity(await callContract(rpc, { to: usdc, data }, hexOf(head)))
  const from = Math.max(0, head - windowBlocks + 2)
  if (balance === 0n || from > head) return balance
  const moved = Map.groupBy(await movementsOf(rpc, { usdc, owner, from, to: head }, range), ({ block }) => block)
  let least = balance
  for (const block of [...moved.keys()].toSorted((a, b) => b - a)) {
    balance = (moved.get(block) ?? []).reduce((before, { change }) => before - change, balance)
    if (balance < least) least = balance
  }
  return least > 0n ? least : 0n
}

async function movementsOf(
  rpc: JsonRpc,
  {
    usdc,
    owner,
    from,
    to,
  }: { readonly usdc: Address; readonly owner: Address; readonly from: number; readonly to: number },
  range: LogRange,
): Promise<readonly Movement[]> {
  const account = pad(owner)
  const found: Movement[] = []
  for (let next = from; next <= to; ) {
    const end = Math.min(to, next + range.blocks - 1)
    const logsWith = async (topics: readonly (string | null)[], sign: bigint) => {
      const filter = { address: usdc, topics: [TRANSFER, ...topics], fromBlock: hexOf(next), toBlock: hexOf(end) }
      return logsIn(await rpc.request('eth_getLogs', [filter]), usdc).map(
        ({ blockNumber, data }): Movement => ({
          block: Number(readQuantity(blockNumber)),
          change: sign * readQuantity(data),
        }),
      )
    }
    try {
      const both = await Promise.all([logsWith([account], -1n), logsWith([null, account], 1n)])
      found.push(...both.flat())
      next = end + 1
    } catch (error) {
      if (!(error instanceof RpcRefusal)) throw error
      if (end === next) throw chainOffline(error)
      range.blocks = Math.max(1, Math.floor((end - next + 1) / 2))
    }
  }
  return found
}

function logsIn(answer: unknown, usdc: Address): readonly TransferLog[] {
  if (!Array.isArray(answer)) throw chainOffline(new Error('the node returned no list of events'))
  return answer.filter((log: TransferLog) => String(log.address).toLowerCase() === usdc.toLowerCase())
}

function hexOf(block: number): string {
  return `0x${block.toString(16)}`
}
