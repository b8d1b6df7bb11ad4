import { concat, type Hex, keccak256, numberToHex } from 'viem'
import { challengedLeaves } from '../../challenge/challenge.ts'
import { type Piece, pieceOf, scattered } from '../pieces.ts'
import type { MarketFuzz } from './market-fuzz.ts'
import type { ModelDeal } from './model-deal.ts'

const CHAIN_WITH_HISTORY = 'prague'
/** `blockhash` answers for so many blocks, and EIP-2935 for so many. */
const HASHES = { recent: 256, history: 8_191 }

/** Proofs that are sent: mostly right, some with another header, some broken. */
export class FuzzProofs {
  readonly pieces: readonly Piece[]
  readonly #fuzz: MarketFuzz
  readonly #random: (end: number) => number
  readonly #hardfork: string
  readonly #nodes = new Map<string, readonly Hex[]>()

  constructor(fuzz: MarketFuzz, random: (end: number) => number, hardfork: string) {
    this.#fuzz = fuzz
    this.#random = random
    this.#hardfork = hardfork
    this.pieces = [1, 100, 127, 127 * 4 + 1, 127 * 8, 127 * 13].map((sizeBytes) => pieceOf(scattered(sizeBytes)))
  }

  async headerFor(deal: ModelDeal | undefined): Promise<{ block: number; header: Hex; seed: Hex }> {
    const newest = this.#fuzz.newestBlock
    const block =
      deal === undefined || deal.seedBlock === 0 || deal.seedBlock > newest || this.#is(5) ? newest : deal.seedBlock
    return { block, ...(await this.#fuzz.chain.header(block)) }
  }

  async nodesFor(
    dealId: bigint,
    deal: ModelDeal | undefined,
    seed: Hex,
  ): Promise<{ nodes: readonly Hex[]; isRight: boolean }> {
    if (deal === undefined) return { nodes: [], isRight: false }
    const { commp, leafCount } = deal.terms
    const piece = this.pieces.find((each) => each.commp === commp)
    const leaves = challengedLeaves({ seed, dealId, period: deal.period, leafCount })
    const nodes: Hex[] = []
    for (const leaf of leaves) {
      const key = `${commp}:${leaf}`
      const path = this.#nodes.get(key) ?? (await piece?.nodesOf(leaf)) ?? []
      this.#nodes.set(key, path)
      nodes.push(...path)
    }
    if (!this.#is(8)) return { nodes, isRight: true }
    const broken = nodes.map((node, index) =>
      index === nodes.length - 1 ? keccak256(concat([node, numberToHex(index)])) : node,
    )
    return { nodes: this.#is(50) ? broken : nodes.slice(1), isRight: false }
  }

  /** The oldest block whose hash a call in this block can read. */
  oldestBlock(block: number): number {
    return block - (this.#hardfork === CHAIN_WITH_HISTORY ? HASHES.history : HASHES.recent)
  }

  #is(percent: number): boolean {
    return this.#random(100) < percent
  }
}
