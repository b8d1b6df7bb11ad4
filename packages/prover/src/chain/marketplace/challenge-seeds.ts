import { encodeBlockHeader, type RpcBlockHeader } from '@lade/contracts/challenge'
import { numberToHex } from 'viem'
import type { Refused } from '../chain-account.ts'
import type { ChainClient } from '../chain-client.ts'
import type { Head } from '../deal.ts'

/** What the contract does not take for randomness. */
const LEAST_RANDOM = 2n ** 128n

/** What draws the leaves of a challenge. */
export interface Seed {
  readonly seed: `0x${string}`
  /** The RLP header that it is in. */
  readonly header: `0x${string}`
}

/** Reads the randomness of blocks from their headers, each once for as long as the newest block is the same. */
export class ChallengeSeeds {
  readonly #client: Pick<ChainClient, 'request'>
  readonly #known = new Map<bigint, Seed | Refused>()
  #headHash: string | undefined

  constructor(client: Pick<ChainClient, 'request'>) {
    this.#client = client
  }

  /** @throws {BaseError} of viem, when the chain cannot be asked. */
  async seedOf(blockNumber: bigint, head: Pick<Head, 'hash'>): Promise<Seed | Refused> {
    // A reorganisation may have put another block there.
    if (this.#headHash !== head.hash) this.#known.clear()
    this.#headHash = head.hash
    const known = this.#known.get(blockNumber)
    if (known !== undefined) return known
    const seed = await this.#read(blockNumber)
    this.#known.set(blockNumber, seed)
    return seed
  }

  async #read(blockNumber: bigint): Promise<Seed | Refused> {
    const block: RpcBlockHeader | null = await this.#client.request({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(blockNumber), false],
    })
    if (block === null) return { refused: 'ChallengeNotDrawn' }
    const header = encodeBlockHeader(block)
    if (header === undefined) return { refused: `the node's header of block ${blockNumber} does not have its hash` }
    return BigInt(block.mixHash) < LEAST_RANDOM ? { refused: 'NoSeed' } : { seed: block.mixHash, header }
  }
}
