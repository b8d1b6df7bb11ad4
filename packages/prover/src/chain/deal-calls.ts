import type { FastifyBaseLogger } from 'fastify'
import type { HeldPiece, PieceStore } from '../pieces/piece-store.ts'
import { proveLeaf } from '../proving/prove-leaf.ts'
import { isOfTheChain } from './chain-account.ts'
import { isIntact, pieceOfDeal } from './check-piece.ts'
import type { Deal, Head } from './deal.ts'
import type { DealSelection, DealTask } from './deal-selection.ts'
import type { FollowedContract } from './followed-contract.ts'
import type { DealProof } from './marketplace/marketplace.ts'

/** Nodes take no transactions of more than 128 KiB, headers of blocks and the rest included. */
const MOST_PROOF_BYTES = 120_000
const NODE_BYTES = 32

export interface DealCallsOptions {
  readonly store: PieceStore
  readonly selection: DealSelection
  readonly log?: FastifyBaseLogger | undefined
}

/** A task that is ready to be sent. */
export interface ReadyTask {
  readonly task: DealTask
  /** For the kind `prove`. */
  readonly proof: DealProof | undefined
}

/** Makes the calls that deals ask for, from what is on the disk. */
export class DealCalls {
  readonly #options: DealCallsOptions
  /** Pieces whose bytes were read and were right. */
  readonly #intact = new Set<string>()

  constructor(options: DealCallsOptions) {
    this.#options = options
  }

  /**
   * Makes what tasks of one contract and kind need, as far as that fits into one transaction. The deals whose pieces are not as they
   * should be are put off.
   *
   * @returns what can be sent, and the tasks that nothing was done about.
   */
  async prepare(tasks: readonly DealTask[], head: Head): Promise<{ ready: ReadyTask[]; left: DealTask[] }> {
    const ready: ReadyTask[] = []
    let bytes = 0
    for (const [index, task] of tasks.entries()) {
      bytes += task.kind === 'prove' ? proofBytesOf(task.deal, task.contract) : 0
      if (bytes > MOST_PROOF_BYTES && ready.length > 0) return { ready, left: tasks.slice(index) }
      const made = await this.#prepareOne(task, head)
      if (made !== undefined) ready.push(made)
    }
    return { ready, left: [] }
  }

  /** Undefined when the deal was put off. */
  async #prepareOne(task: DealTask, head: Head): Promise<ReadyTask | undefined> {
    const { deal, kind, contract } = task
    if (kind === 'settle') return { task, proof: undefined }
    try {
      const piece = pieceOfDeal(this.#options.store, deal)
      if (piece !== undefined) {
        if (kind === 'open' || kind === 'reopen') return { task, proof: undefined }
        if (kind === 'prove') return await this.#prove(task, piece, head)
        if (await this.#isIntact(piece)) return { task, proof: undefined }
        this.#options.selection.sayOnce(deal, 'rotten', 'a deal was not accepted: its piece is not stored')
      }
    } catch (error) {
      if (isOfTheChain(error)) throw error
      const named = { contract: deal.contract, dealId: String(deal.dealId) }
      this.#options.log?.error({ ...named, err: error }, 'could not process a deal')
    }
    contract.watch.retryLater(deal, head.time)
    return undefined
  }

  async #prove(task: DealTask, piece: HeldPiece, head: Head): Promise<ReadyTask | undefined> {
    const { deal, contract } = task
    const { selection, store } = this.#options
    const challenge = await contract.marketplace.challengeOf(deal, head)
    if ('refused' in challenge) {
      selection.sayOnce(deal, challenge.refused, 'there is no challenge to prove')
      // The node may lag behind the one that knew of the challenge. Every block counts.
      contract.watch.readAgain(deal, head.time, head.time)
      return undefined
    }
    const leaves: DealProof['leaves'][number][] = []
    for (const leafIndex of challenge.leafIndexes) {
      const made = await proveLeaf(store, piece, leafIndex)
      if (typeof made === 'string') {
        selection.sayOnce(deal, made, 'a deal cannot be proved: its piece is damaged')
        contract.watch.retryLater(deal, head.time)
        return undefined
      }
      leaves.push(made)
    }
    return { task, proof: { deal, challenge, leaves } }
  }

  async #isIntact(piece: HeldPiece): Promise<boolean> {
    if (this.#intact.has(piece.pieceCid)) return true
    const isRight = await isIntact(this.#options.store, piece)
    if (isRight) this.#intact.add(piece.pieceCid)
    return isRight
  }
}

/** How many proofs like that of a deal a transaction can hold. */
export function proofsWithin(deal: Deal, contract: FollowedContract): number {
  return Math.max(1, Math.floor(MOST_PROOF_BYTES / proofBytesOf(deal, contract)))
}

/** Each leaf with its siblings, and a few numbers. */
function proofBytesOf({ paddedSizeBytes }: Deal, { marketplace }: FollowedContract): number {
  const height = Math.log2(Number(paddedSizeBytes) / NODE_BYTES)
  return NODE_BYTES * (marketplace.terms.leavesOfProof * (1 + height) + 5)
}
