import type { Fees, Hash } from '../../chain.ts'
import { readQuantity } from './contract-call.ts'
import { ask, type JsonRpc } from './json-rpc.ts'

/**
 * What the network asks for now. A chain whose blocks have no base fee (EIP-1559) has one price for a unit of gas.
 *
 * @throws {LadeError} `chain_offline`.
 */
export async function feesOf(rpc: JsonRpc): Promise<Fees> {
  const block = await ask(rpc, 'eth_getBlockByNumber', ['latest', false])
  const { baseFeePerGas }: { baseFeePerGas?: unknown } = Object(block)
  if (baseFeePerGas === undefined || baseFeePerGas === null) {
    const gasPrice = readQuantity(await ask(rpc, 'eth_gasPrice', []))
    return { maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice, hasBaseFee: false }
  }
  const maxPriorityFeePerGas = readQuantity(await ask(rpc, 'eth_maxPriorityFeePerGas', []))
  // Twice the base fee stays enough for six full blocks in a row, each of which raises it by an eighth (EIP-1559).
  return { maxFeePerGas: 2n * readQuantity(baseFeePerGas) + maxPriorityFeePerGas, maxPriorityFeePerGas }
}

/** True for a signed transaction of the form from before EIP-2718, which begins with a list and not with its type. */
export function isLegacy(raw: Hash): boolean {
  return Number.parseInt(raw.slice(2, 4), 16) >= 0xc0
}
