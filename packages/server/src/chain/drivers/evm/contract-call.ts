import type { Address, Hash } from '../../chain.ts'
import { chainOffline, type JsonRpc, RpcRefusal } from './json-rpc.ts'

/**
 * The most gas that a call of somebody else's contract may cost the node: enough for a wallet that is deployed on the way and checks a
 * signature of a curve that the chain knows nothing about, which costs up to about 2 million.
 */
const GAS_LIMIT = 5_000_000
/** What nodes say when it is the contract that fails: Geth and Anvil, Nethermind; Anvil and others by words only. */
const EXECUTION_CODES = [3, -32015]
const EXECUTION_WORDS =
  /revert|out of ?gas|invalid ?opcode|invalid ?jump|stack (?:under|over)flow|EVM error|gas required exceeds/i

/** A read-only call (`eth_call`). */
export interface ContractCall {
  /** Absent for code that runs once and is not kept. */
  readonly to?: Address
  /** Who calls. @default nobody */
  readonly from?: Address
  readonly data: Hash
}

/**
 * Has the node work out a call, at its newest block where nothing else is said; nothing is changed by it. What the contract answers is taken as it is: a contract
 * that asks for a look-up elsewhere (ERC-3668) has failed.
 *
 * @returns the answer; undefined when the contract failed.
 * @throws {LadeError} `chain_offline`.
 */
export async function callContract(
  rpc: JsonRpc,
  { data, ...parties }: ContractCall,
  block = 'latest',
): Promise<Hash | undefined> {
  const call = { ...parties, data, gas: `0x${GAS_LIMIT.toString(16)}` }
  try {
    return readHex(await rpc.request('eth_call', [call, block]))
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error
    if (EXECUTION_CODES.includes(error.code) || EXECUTION_WORDS.test(error.message)) return undefined
    throw chainOffline(error)
  }
}

/** The one word that a contract answers; undefined when it answers none, as when there is no contract. @throws {LadeError} `chain_offline`. */
export async function callForWord(rpc: JsonRpc, to: Address, data: Hash): Promise<bigint | undefined> {
  const answer = await callContract(rpc, { to, data })
  return answer === undefined || answer === '0x' ? undefined : BigInt(answer)
}

/** @throws {LadeError} `chain_offline` when the node answered something else than bytes or a number in hex. */
export function readHex(answer: unknown): Hash {
  if (typeof answer === 'string' && /^0x[0-9a-fA-F]*$/.test(answer)) return answer as Hash
  throw chainOffline(new Error('the node returned something other than hex'))
}

/** @throws {LadeError} `chain_offline` as {@link readHex}. */
export function readQuantity(answer: unknown): bigint {
  const hex = readHex(answer)
  if (hex === '0x') throw chainOffline(new Error('the node returned nothing instead of a number'))
  return BigInt(hex)
}
