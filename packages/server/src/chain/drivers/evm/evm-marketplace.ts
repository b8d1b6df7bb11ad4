import { marketplaceV1Abi } from '@lade/contracts/marketplace-v1'
import { encodeFunctionData, erc20Abi, keccak256, parseEventLogs, type RpcLog } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Address, BlockPlace, Fees, Hash, Marketplace, SignedTransaction } from '../../chain.ts'
import { callContract, readHex, readQuantity } from './contract-call.ts'
import { readDealEvents } from './deal-events.ts'
import { openDealReader } from './deal-reader.ts'
import { ask, chainOffline, type JsonRpc, RpcRefusal } from './json-rpc.ts'
import { type CallTransaction, type ContractAddresses, type GasLimits, transactionOf } from './marketplace-call.ts'
import { outcomeOfRefusal } from './send-outcome.ts'

/** An allowance above all USDC that there will ever be; one that was given without end stays above it, whatever is taken. */
const ENDLESS_ALLOWANCE = 2n ** 128n

/** The contracts, and the account that creates and pays for deals. */
export interface EvmMarketplaceOptions extends ContractAddresses {
  readonly rpc: JsonRpc
  readonly chainId: number
  readonly privateKey: Hash
  readonly gasLimits: GasLimits
}

/** The fields that are read of a receipt. */
interface Receipt {
  readonly blockNumber: unknown
  readonly blockHash: unknown
  readonly status: unknown
  readonly logs: unknown
}

/** Opens the marketplace of an EVM chain for the account of a key. Nothing is asked yet. */
export function openEvmMarketplace(options: EvmMarketplaceOptions): Marketplace {
  const { rpc, chainId, usdc, marketplace, gasLimits } = options
  const signer = privateKeyToAccount(options.privateKey)
  const account: Address = signer.address

  const sign = async (call: CallTransaction, nonce: number, fees: Fees): Promise<SignedTransaction> => {
    const raw = await signer.signTransaction({ type: 'eip1559', chainId, nonce, value: 0n, ...call, ...fees })
    return { hash: keccak256(raw), raw }
  }
  const nonceOf = async (block: string) =>
    Number(readQuantity(await ask(rpc, 'eth_getTransactionCount', [account, block])))

  const readDeal = openDealReader(rpc, marketplace)

  return {
    account,
    contract: marketplace,
    async fees() {
      const [block, tip] = await Promise.all([
        ask(rpc, 'eth_getBlockByNumber', ['latest', false]),
        ask(rpc, 'eth_maxPriorityFeePerGas', []),
      ])
      const { baseFeePerGas }: { baseFeePerGas?: unknown } = Object(block)
      const maxPriorityFeePerGas = readQuantity(tip)
      // Twice the base fee stays enough for six full blocks in a row, each of which raises it by an eighth (EIP-1559).
      return { maxFeePerGas: 2n * readQuantity(baseFeePerGas) + maxPriorityFeePerGas, maxPriorityFeePerGas }
    },
    confirmedNonce: () => nonceOf('latest'),
    nonceAt: (blockNumber) => nonceOf(`0x${blockNumber.toString(16)}`),
    async prepare() {
      const args = [account, marketplace] as const
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args })
      const allowance = readQuantity(await callContract(rpc, { to: usdc, data }))
      return allowance >= ENDLESS_ALLOWANCE ? [] : [{ kind: 'approve' }]
    },
    sign: ({ call, nonce, fees }) => sign(transactionOf(call, { usdc, marketplace }, gasLimits), nonce, fees),
    signEmpty: ({ nonce, fees }) => sign({ to: account, data: '0x', gas: gasLimits.empty }, nonce, fees),
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
      const { blockNumber, blockHash, status, logs }: Receipt = Object(receipt)
      return {
        place: 'block',
        block: placeOf(blockNumber, blockHash),
        succeeded: readQuantity(status) === 1n,
        dealIds: dealIdsIn(logs, marketplace),
      }
    },
    async head() {
      const block = await ask(rpc, 'eth_getBlockByNumber', ['latest', false])
      const { number, hash }: { number?: unknown; hash?: unknown } = Object(block)
      return placeOf(number, hash)
    },
    deal: readDeal,
    events: (blocks) => readDealEvents(rpc, marketplace, blocks),
    async canPay() {
      // Nothing is moved: a token that froze an account refuses payments of nothing, too.
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [account, 0n] })
      const answer = await callContract(rpc, { from: marketplace, to: usdc, data })
      return answer !== undefined && (answer === '0x' || BigInt(answer) === 1n)
    },
  }
}

function placeOf(number: unknown, hash: unknown): BlockPlace {
  return { number: Number(readQuantity(number)), hash: readHex(hash) }
}

/** The deals that were proposed to this marketplace, in the order of their logs. */
function dealIdsIn(logs: unknown, marketplace: Address): readonly bigint[] {
  if (!Array.isArray(logs)) throw chainOffline(new Error('the node returned a receipt without logs'))
  const own = logs.filter((log: RpcLog) => log.address.toLowerCase() === marketplace.toLowerCase())
  return parseEventLogs({ abi: marketplaceV1Abi, eventName: 'DealProposed', logs: own })
    .toSorted((a, b) => Number(a.logIndex) - Number(b.logIndex))
    .map(({ args }) => args.dealId)
}
