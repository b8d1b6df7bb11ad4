import { marketplaceAbi } from '@lade/contracts'
import { decodeFunctionData } from 'viem'
import type { ChainHarness } from './chain-harness.ts'

/** The transactions of an account that are in blocks, in their order. */
export async function sentBy({ chain }: ChainHarness, address: string) {
  const newest = Number(await chain.getBlockNumber())
  const blocks = await Promise.all(
    Array.from({ length: newest }, (_, index) =>
      chain.getBlock({ blockNumber: BigInt(index + 1), includeTransactions: true }),
    ),
  )
  const transactions = blocks.flatMap((block) => block.transactions)
  const own = transactions.filter(({ from }) => from === address.toLowerCase())
  return Promise.all(
    own.map(async ({ hash, type, input, gas, maxFeePerGas }) => {
      const { gasUsed } = await chain.getTransactionReceipt({ hash })
      return { type, maxFeePerGas, gas, gasUsed, functionName: functionNameOf(input) }
    }),
  )
}

/** Of the second version of the marketplace; undefined for other calls. */
function functionNameOf(data: `0x${string}`): string | undefined {
  try {
    return decodeFunctionData({ abi: marketplaceAbi, data }).functionName
  } catch {
    return undefined
  }
}
