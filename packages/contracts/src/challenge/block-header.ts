import { type Hex, keccak256, toRlp } from 'viem'

/** A block as `eth_getBlockByNumber` answers it: quantities and bytes in hexadecimal. */
export interface RpcBlockHeader {
  readonly hash: Hex | null
  readonly parentHash: Hex
  readonly sha3Uncles: Hex
  readonly miner: Hex
  readonly stateRoot: Hex
  readonly transactionsRoot: Hex
  readonly receiptsRoot: Hex
  readonly logsBloom: Hex | null
  readonly difficulty: Hex
  readonly number: Hex | null
  readonly gasLimit: Hex
  readonly gasUsed: Hex
  readonly timestamp: Hex
  readonly extraData: Hex
  readonly mixHash: Hex
  readonly nonce: Hex | null
  readonly baseFeePerGas?: Hex | null | undefined
  readonly withdrawalsRoot?: Hex | null | undefined
  readonly blobGasUsed?: Hex | null | undefined
  readonly excessBlobGas?: Hex | null | undefined
  readonly parentBeaconBlockRoot?: Hex | null | undefined
  readonly requestsHash?: Hex | null | undefined
}

/**
 * The RLP header of a block, for `prove`. Forks have added fields at the end; those that the block has are encoded.
 *
 * @returns undefined if the header does not have the block's hash: the node is wrong, or the chain has headers of another form.
 * @see EIP-1559, EIP-4895, EIP-4844, EIP-4788, EIP-7685
 */
export function encodeBlockHeader(block: RpcBlockHeader): Hex | undefined {
  if (block.hash === null || block.logsBloom === null || block.number === null || block.nonce === null) return undefined
  const header = toRlp([
    ...[block.parentHash, block.sha3Uncles, block.miner, block.stateRoot, block.transactionsRoot, block.receiptsRoot],
    ...[block.logsBloom, quantity(block.difficulty), quantity(block.number), quantity(block.gasLimit)],
    ...[quantity(block.gasUsed), quantity(block.timestamp), block.extraData, block.mixHash, block.nonce],
    ...present(block.baseFeePerGas, quantity),
    ...present(block.withdrawalsRoot),
    ...present(block.blobGasUsed, quantity),
    ...present(block.excessBlobGas, quantity),
    ...present(block.parentBeaconBlockRoot),
    ...present(block.requestsHash),
  ])
  return keccak256(header) === block.hash.toLowerCase() ? header : undefined
}

function present(field: Hex | null | undefined, encode: (field: Hex) => Hex = (same) => same): Hex[] {
  return field === null || field === undefined ? [] : [encode(field)]
}

/** RLP has integers without leading zeros, and 0 as nothing; JSON-RPC has `0x0`. */
function quantity(value: Hex): Hex {
  const digits = value.slice(2).replace(/^0+/, '')
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`
}
