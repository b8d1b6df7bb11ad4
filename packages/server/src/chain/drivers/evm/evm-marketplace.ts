import { isAddressEqual, keccak256, parseTransaction, type RpcLog } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type {
  Address,
  BlockPlace,
  Fees,
  Hash,
  Marketplace,
  MarketplaceVersion,
  SignedTransaction,
} from '../../chain.ts'
import { readHex, readQuantity } from './contract-call.ts'
import { proposedIn } from './deal-events.ts'
import { openEvmContract } from './evm-contract.ts'
import { gasFor } from './gas-estimate.ts'
import { ask, chainOffline, type JsonRpc, RpcRefusal } from './json-rpc.ts'
import { type CallTransaction, type GasLimits, transactionOf } from './marketplace-call.ts'
import { feesOf, isLegacy } from './network-fees.ts'
import { outcomeOfRefusal } from './send-outcome.ts'

/** The contracts, and the account that creates and pays for deals. */
export interface EvmMarketplaceOptions {
  readonly rpc: JsonRpc
  readonly chainId: number
  readonly usdc: Address
  /** The first is for new deals. */
  readonly marketplaces: readonly [Address, ...Address[]]
  readonly privateKey: Hash
  readonly gasLimits: GasLimits
}

/** The fields that are read of a receipt. */
interface Receipt {
  readonly blockNumber: unknown
  readonly blockHash: unknown
  readonly status: unknown
  readonly to: unknown
  readonly logs: unknown
}

/** Opens the marketplaces of an EVM chain for the account of a key. Nothing is asked yet. */
export function openEvmMarketplace(options: EvmMarketplaceOptions): Marketplace {
  const { rpc, chainId, usdc, marketplaces, gasLimits } = options
  const signer = privateKeyToAccount(options.privateKey)
  const account: Address = signer.address

  const sign = async (call: CallTransaction, nonce: number, fees: Fees): Promise<SignedTransaction> => {
    const transaction = { chainId, nonce, value: 0n, ...call }
    const { maxFeePerGas, maxPriorityFeePerGas } = fees
    const raw = await (fees.hasBaseFee === false
      ? signer.signTransaction({ type: 'legacy', ...transaction, gasPrice: maxFeePerGas })
      : signer.signTransaction({ type: 'eip1559', ...transaction, maxFeePerGas, maxPriorityFeePerGas }))
    return { hash: keccak256(raw), raw }
  }
  const nonceOf = async (block: string) =>
    Number(readQuantity(await ask(rpc, 'eth_getTransactionCount', [account, block])))

  const openContract = (address: Address) => openEvmContract({ rpc, address, usdc, account })
  const [first, ...others] = marketplaces
  const contracts = [openContract(first), ...others.map(openContract)] as const
  const versionOf = (address: Address): Promise<MarketplaceVersion> => {
    const contract = contracts.find((one) => isAddressEqual(one.address, address))
    if (contract === undefined) throw new TypeError(`The marketplace ${address} is not configured.`)
    return contract.version()
  }

  return {
    account,
    contracts,
    fees: () => feesOf(rpc),
    confirmedNonce: () => nonceOf('latest'),
    nonceAt: (blockNumber) => nonceOf(`0x${blockNumber.toString(16)}`),
    async sign({ call, nonce, fees }) {
      const transaction = transactionOf(call, { usdc, version: await versionOf(call.contract), gas: gasLimits })
      return sign({ ...transaction, gas: await gasFor(rpc, account, transaction) }, nonce, fees)
    },
    signEmpty: ({ nonce, fees }) => sign({ to: account, data: '0x', gas: gasLimits.empty }, nonce, fees),
    signAgain({ raw, fees }) {
      const { to, data = '0x', gas, nonce } = parseTransaction(raw)
      if (to == null || gas === undefined || nonce === undefined) throw new TypeError('the transaction calls nobody')
      return sign({ to, data, gas }, nonce, { ...fees, hasBaseFee: !isLegacy(raw) })
    },
    async send(raw) {
      try {
        await rpc.request('eth_sendRawTransaction', [raw])
        return { outcome: 'accepted' }
      } catch (error) {
        if (!(error instanceof RpcRefusal)) throw error
        return outcomeOfRefusal(error)
      }
    },
    async find(hash) {
      const receipt = await ask(rpc, 'eth_getTransactionReceipt', [hash])
      if (receipt === null) {
        const waiting = await ask(rpc, 'eth_getTransactionByHash', [hash])
        return { place: waiting === null ? 'unknown' : 'pool' }
      }
      const { blockNumber, blockHash, status, to, logs }: Receipt = Object(receipt)
      return {
        place: 'block',
        block: placeOf(blockNumber, blockHash),
        succeeded: readQuantity(status) === 1n,
        dealIds: dealIdsIn(logs, to),
      }
    },
    async head() {
      const block = await ask(rpc, 'eth_getBlockByNumber', ['latest', false])
      const { number, hash }: { number?: unknown; hash?: unknown } = Object(block)
      return placeOf(number, hash)
    },
  }
}

function placeOf(number: unknown, hash: unknown): BlockPlace {
  return { number: Number(readQuantity(number)), hash: readHex(hash) }
}

/** The deals that were proposed to the contract that the transaction called, in the order of their logs. */
function dealIdsIn(logs: unknown, called: unknown): readonly bigint[] {
  if (!Array.isArray(logs)) throw chainOffline(new Error('the node returned a receipt without logs'))
  return proposedIn(logs.filter((log: RpcLog) => log.address.toLowerCase() === String(called).toLowerCase()))
}
