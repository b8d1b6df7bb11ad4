import { marketplaceAbi } from '@lade/contracts/marketplace'
import { encodeFunctionData, erc20Abi } from 'viem'
import type { Address } from '../../chain.ts'
import { callForWord, readQuantity } from './contract-call.ts'
import { readVersion } from './contract-version.ts'
import { ask, type JsonRpc } from './json-rpc.ts'
import { WrongNode } from './wrong-node.ts'

const USDC_DECIMALS = 6n

/** What the configuration says, and a node has to confirm. */
export interface ExpectedChain {
  readonly chainId: number
  readonly usdc: Address
  readonly marketplaces: readonly Address[]
}

/**
 * Resolves when the node is of this chain, the token has six decimals, and every marketplace is paid in it.
 *
 * @throws {WrongNode} when it answers something else.
 * @throws {LadeError} `chain_offline`.
 */
export async function checkNode(rpc: JsonRpc, { chainId, usdc, marketplaces }: ExpectedChain): Promise<void> {
  const actual = readQuantity(await ask(rpc, 'eth_chainId', []))
  if (actual !== BigInt(chainId)) throw new WrongNode(`The node is on chain ${actual}, not on chain ${chainId}.`)
  const decimals = await callForWord(rpc, usdc, encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' }))
  if (decimals !== USDC_DECIMALS) {
    throw new WrongNode(`There is no token of ${USDC_DECIMALS} decimals at ${usdc} on chain ${chainId}.`)
  }
  const asksToken = encodeFunctionData({ abi: marketplaceAbi, functionName: 'usdc' })
  for (const marketplace of marketplaces) {
    const token = await callForWord(rpc, marketplace, asksToken)
    if (token !== BigInt(usdc)) {
      throw new WrongNode(
        `There is no marketplace at ${marketplace} on chain ${chainId} that is paid in the token at ${usdc}.`,
      )
    }
    await readVersion(rpc, marketplace)
  }
}
