import type { Address } from '../../chain.ts'
import { readQuantity } from './contract-call.ts'
import { chainOffline, type JsonRpc, RpcRefusal } from './json-rpc.ts'
import type { CallTransaction } from './marketplace-call.ts'

/**
 * The gas that a transaction may use: its limit by formula, or a quarter more than the node estimates, where that is more, as on chains that
 * count gas in another way than Ethereum. A node that refuses to estimate what would fail now leaves the formula.
 *
 * @throws {LadeError} `chain_offline`.
 */
export async function gasFor(rpc: JsonRpc, from: Address, { to, data, gas }: CallTransaction): Promise<bigint> {
  try {
    const estimate = readQuantity(await rpc.request('eth_estimateGas', [{ from, to, data }]))
    const withMargin = (estimate * 5n) / 4n
    return withMargin > gas ? withMargin : gas
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error
    // What has failed by itself is known when it is in a block.
    if (error.isTrouble && !/revert/i.test(error.message)) throw chainOffline(error)
    return gas
  }
}
