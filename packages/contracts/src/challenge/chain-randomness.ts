import type { Address, Hex } from 'viem'
import { encodeBlockHeader, type RpcBlockHeader } from './block-header.ts'

/** The precompile of Filecoin that answers the drand beacon of an epoch (FIP-0095). */
const FILECOIN_BEACON = '0xfe00000000000000000000000000000000000006'
/** Filecoin's mainnet, its calibration network, and local networks. */
const FILECOIN_CHAINS = [314, 314_159, 31_415_926]
/** Of `PDPVerifier` on Filecoin's mainnet: a maker of blocks cannot bring about a fork of so many epochs. */
const FILECOIN_DELAY_BLOCKS = 150
/** On Ethereum, whoever makes all blocks from the opening up to the one before the seed's knows the seed. Nobody makes four in a row often. */
const HEADER_DELAY_BLOCKS = 4
/** How far a rollup of the OP stack may be behind its layer 1, whose randomness it repeats (`max_sequencer_drift`). */
const ROLLUP_LAG_SECONDS = 1_800
/** How many blocks are read; a layer 2 repeats the randomness of a block of layer 1 for about six of its own. */
const SAMPLE_BLOCKS = 32
/** The contract refuses a seed below it: a constant, or a difficulty. */
const LEAST_RANDOM = 2n ** 128n

/** Where the contract gets the seed of a challenge on a chain. */
export type ChainRandomness =
  /** Each block has its own; or several blocks in a row have the same, which is known before the rollup uses it. */
  | {
      readonly kind: 'header'
      readonly isRepeated: boolean
      readonly leastDelayBlocks: number
      readonly delayBlocks: number
    }
  | {
      readonly kind: 'beacon'
      readonly beacon: Address
      readonly leastDelayBlocks: number
      readonly delayBlocks: number
    }
  /** No marketplace can be deployed; `reason` is a sentence. */
  | { readonly kind: 'none'; readonly reason: string }

/** The two calls that are made to a node. */
export interface BlockReader {
  getChainId(): Promise<number>
  getBlockNumber(options: { cacheTime: number }): Promise<bigint>
  request(call: { method: 'eth_getBlockByNumber'; params: [Hex, false] }): Promise<RpcBlockHeader | null>
}

/**
 * Reads recent blocks to find out what randomness a chain has.
 *
 * A header's `mixHash` is usable if it is not a small number (Arbitrum, zkSync, BNB Chain and Polygon have constants), if it changes
 * within 32 blocks, and if the header can be encoded from the node's answer: otherwise nobody could prove anything.
 *
 * @returns `delayBlocks` is the seed delay to deploy with; fewer than `leastDelayBlocks` let a prover choose its leaves.
 */
export async function readChainRandomness(chain: BlockReader): Promise<ChainRandomness> {
  const chainId = await chain.getChainId()
  if (FILECOIN_CHAINS.includes(chainId)) {
    return { kind: 'beacon', beacon: FILECOIN_BEACON, leastDelayBlocks: 1, delayBlocks: FILECOIN_DELAY_BLOCKS }
  }
  const blocks = await readNewestBlocks(chain)
  const [newest] = blocks
  if (newest === undefined) return none(`Chain ${chainId} has no block after its first one yet.`)
  if (blocks.some(({ mixHash }) => mixHash === undefined || BigInt(mixHash) < LEAST_RANDOM)) {
    return none(`The blocks of chain ${chainId} have no randomness: mixHash is ${newest.mixHash ?? 'missing'}.`)
  }
  if (encodeBlockHeader(newest) === undefined) {
    return none(`Chain ${chainId} has block headers of another form than Ethereum's, so no proof can name one.`)
  }
  const isRepeated = blocks.some(({ mixHash }, index) => mixHash === blocks[index + 1]?.mixHash)
  if (!isRepeated) return { kind: 'header', isRepeated, leastDelayBlocks: 1, delayBlocks: HEADER_DELAY_BLOCKS }
  if (blocks.every(({ mixHash }) => mixHash === newest.mixHash)) {
    return none(`The blocks of chain ${chainId} have no randomness: mixHash is always ${newest.mixHash}.`)
  }
  const delayBlocks = Math.ceil(ROLLUP_LAG_SECONDS / secondsPerBlock(blocks))
  return { kind: 'header', isRepeated, leastDelayBlocks: delayBlocks, delayBlocks }
}

/** Newest first. The first block of a chain has no randomness on any of them. */
async function readNewestBlocks(chain: BlockReader): Promise<RpcBlockHeader[]> {
  const newest = await chain.getBlockNumber({ cacheTime: 0 })
  const blocks: RpcBlockHeader[] = []
  for (let number = newest; number > 0n && blocks.length < SAMPLE_BLOCKS; number -= 1n) {
    const block = await chain.request({ method: 'eth_getBlockByNumber', params: [`0x${number.toString(16)}`, false] })
    if (block === null) break
    blocks.push(block)
  }
  return blocks
}

function secondsPerBlock(blocks: readonly RpcBlockHeader[]): number {
  const [newest, oldest] = [blocks[0], blocks.at(-1)]
  const seconds = Number(newest?.timestamp ?? 0) - Number(oldest?.timestamp ?? 0)
  return Math.max(seconds / Math.max(1, blocks.length - 1), 0.25)
}

function none(reason: string): ChainRandomness {
  return { kind: 'none', reason }
}
