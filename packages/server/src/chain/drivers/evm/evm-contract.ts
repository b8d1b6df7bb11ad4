import { encodeFunctionData, erc20Abi } from 'viem'
import type { Address, MarketplaceContract, MarketplaceVersion } from '../../chain.ts'
import { callContract, readQuantity } from './contract-call.ts'
import { readVersion } from './contract-version.ts'
import { readDealEvents } from './deal-events.ts'
import { openDealReader } from './deal-reader.ts'
import { askOnce, type JsonRpc } from './json-rpc.ts'

/** An allowance above all USDC that there will ever be; one that was given without end stays above it, whatever is taken. */
const ENDLESS_ALLOWANCE = 2n ** 128n

export interface EvmContractOptions {
  readonly rpc: JsonRpc
  readonly address: Address
  readonly usdc: Address
  /** The operator's account. */
  readonly account: Address
}

/** Opens one marketplace contract. Nothing is asked yet. */
export function openEvmContract({ rpc, address, usdc, account }: EvmContractOptions): MarketplaceContract {
  const version = askOnce<MarketplaceVersion>(() => readVersion(rpc, address))
  return {
    address,
    version,
    async prepare() {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [account, address] })
      const allowance = readQuantity(await callContract(rpc, { to: usdc, data }))
      return allowance >= ENDLESS_ALLOWANCE ? [] : [{ kind: 'approve', contract: address }]
    },
    deal: openDealReader({ rpc, marketplace: address, version }),
    events: (blocks) => readDealEvents(rpc, address, blocks),
    async canPay() {
      // Nothing is moved: a token that froze an account refuses payments of nothing, too.
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [account, 0n] })
      const answer = await callContract(rpc, { from: address, to: usdc, data })
      return answer !== undefined && (answer === '0x' || BigInt(answer) === 1n)
    },
  }
}
