import { encodeBlockHeader, type RpcBlockHeader } from '@lade/contracts/challenge'
import { encodeAbiParameters, numberToHex } from 'viem'
import type { Refused } from '../chain-account.ts'
import type { ChainClient } from '../chain-client.ts'
import type { Head } from '../deal.ts'

/** EIP-2935: keeps the hashes of the last 8191 blocks, on chains that have it. */
const HISTORY = '0x0000F90827F1C53a10cb7A02335B175320002935'
const HISTORY_BLOCKS = 8191n
/** As many as contracts can read the hashes of elsewhere. */
const RECENT_BLOCKS = 256n
/** A beacon answers for all blocks. */
const NO_LIMIT = 2n ** 40n
/** What the contract does not take for randomness. */
const LEAST_RANDOM = 2n ** 128n

/** What draws the leaves of a challenge. */
export interface Seed {
  readonly seed: `0x${string}`
  /** `0x` where a beacon is asked instead. */
  readonly header: `0x${string}`
}

/** Reads the randomness of blocks, each once for as long as the newest block is the same. */
export class ChallengeSeeds {
  /** For so many blocks after the one that draws a challenge, the contract can check what drew it. */
  readonly blocks: bigint
  readonly #client: ChainClient
  readonly #beacon: `0x${string}` | undefined
  readonly #known = new Map<bigint, Seed | Refused>()
  #headHash: string | undefined

  private constructor(client: ChainClient, beacon: `0x${string}` | undefined, blocks: bigint) {
    this.#client = client
    this.#beacon = beacon
    this.blocks = blocks
  }

  /** @param beacon - answers for a block number; undefined where the headers of blocks are read. */
  static async open(client: ChainClient, beacon: `0x${string}` | undefined): Promise<ChallengeSeeds> {
    if (beacon !== undefined) return new ChallengeSeeds(client, beacon, NO_LIMIT)
    const history = await client.getCode({ address: HISTORY })
    return new ChallengeSeeds(client, undefined, history === undefined ? RECENT_BLOCKS : HISTORY_BLOCKS)
  }

  /** @throws {BaseError} of viem, when the chain cannot be asked. */
  async seedOf(blockNumber: bigint, head: Head): Promise<Seed | Refused> {
    // A reorganisation may have put another block there.
    if (this.#headHash !== head.hash) this.#known.clear()
    this.#headHash = head.hash
    const known = this.#known.get(blockNumber)
    if (known !== undefined) return known
    const seed =
      this.#beacon === undefined ? await this.#readHeader(blockNumber) : await this.#ask(this.#beacon, blockNumber)
    this.#known.set(blockNumber, seed)
    return seed
  }

  async #readHeader(blockNumber: bigint): Promise<Seed | Refused> {
    const block: RpcBlockHeader | null = await this.#client.request({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(blockNumber), false],
    })
    if (block === null) return { refused: 'ChallengeNotDrawn' }
    const header = encodeBlockHeader(block)
    if (header === undefined) return { refused: `the node's header of block ${blockNumber} does not have its hash` }
    return checked({ seed: block.mixHash, header })
  }

  async #ask(beacon: `0x${string}`, blockNumber: bigint): Promise<Seed | Refused> {
    const data = encodeAbiParameters([{ type: 'uint256' }], [blockNumber])
    const { data: seed = '0x' } = await this.#client.call({ to: beacon, data })
    return seed.length === 66 ? checked({ seed, header: '0x' }) : { refused: 'the beacon does not answer' }
  }
}

export function isRefused(value: object): value is Refused {
  return 'refused' in value
}

function checked(seed: Seed): Seed | Refused {
  return BigInt(seed.seed) < LEAST_RANDOM ? { refused: 'NoSeed' } : seed
}
