import { marketplaceV1Abi } from '@lade/contracts/marketplace-v1'
import { encodeFunctionData, erc20Abi } from 'viem'
import type { Address } from '../../chain.ts'
import { callContract, readQuantity } from './contract-call.ts'
import { ask, type JsonRpc } from './json-rpc.ts'

const USDC_DECIMALS = 6n

/** What the configuration says, and a node has to confirm. */
export interface ExpectedChain {
  readonly chainId: number
  readonly usdc: Address
  readonly marketplace: Address | undefined
}

/** The node answers, and is not the one that the configuration means. */
export class WrongNode extends Error {
  override readonly name = 'WrongNode'
}

/**
 * Resolves when the node is of this chain, the token has six decimals, and the marketplace is paid in it.
 *
 * @throws {WrongNode} when it answers something else.
 * @throws {LadeError} `chain_offline`.
 */
export async function checkNode(rpc: JsonRpc, { chainId, usdc, marketplace }: ExpectedChain): Promise<void> {
  const actual = readQuantity(await ask(rpc, 'eth_chainId', []))
  if (actual !== BigInt(chainId)) throw new WrongNode(`The node is on chain ${actual}, not on chain ${chainId}.`)
  const decimals = await wordAt(rpc, usdc, encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' }))
  if (decimals !== USDC_DECIMALS) {
    throw new WrongNode(`There is no token of ${USDC_DECIMALS} decimals at ${usdc} on chain ${chainId}.`)
  }
  if (marketplace === undefined) return
  const token = await wordAt(rpc, marketplace, encodeFunctionData({ abi: marketplaceV1Abi, functionName: 'usdc' }))
  if (token !== BigInt(usdc)) {
    throw new WrongNode(`There is no marketplace at ${marketplace} that is paid in the token at ${usdc}.`)
  }
}

/** The one word that a contract answers; undefined when it answers none, as when there is no contract. */
async function wordAt(rpc: JsonRpc, to: Address, data: `0x${string}`): Promise<bigint | undefined> {
  const answer = await callContract(rpc, { to, data })
  return answer === undefined || answer === '0x' ? undefined : BigInt(answer)
}
