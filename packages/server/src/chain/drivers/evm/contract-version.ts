import { encodeFunctionData, parseAbi } from 'viem'
import type { Address, MarketplaceVersion } from '../../chain.ts'
import { callForWord } from './contract-call.ts'
import type { JsonRpc } from './json-rpc.ts'
import { WrongNode } from './wrong-node.ts'

const VERSIONS: readonly MarketplaceVersion[] = [1, 2]
const ASKS_VERSION = encodeFunctionData({
  abi: parseAbi(['function VERSION() view returns (uint256)']),
  functionName: 'VERSION',
})

/**
 * The version of a marketplace contract. The first one does not say it.
 *
 * @throws {WrongNode} for a version that is newer than this code.
 * @throws {LadeError} `chain_offline`.
 */
export async function readVersion(rpc: JsonRpc, marketplace: Address): Promise<MarketplaceVersion> {
  const said = (await callForWord(rpc, marketplace, ASKS_VERSION)) ?? 1n
  const version = VERSIONS.find((known) => BigInt(known) === said)
  if (version !== undefined) return version
  throw new WrongNode(
    `The marketplace at ${marketplace} has version ${said}, which is newer than this version of Lade.`,
  )
}
