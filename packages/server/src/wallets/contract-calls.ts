import { createHash } from 'node:crypto'
import { FairQueue } from '@lade/node/budget/fair-queue'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import { LRUCache } from 'lru-cache'
import { isErc6492Signature, toHex } from 'viem'
import type { Chain } from '../chain/chain.ts'
import { walletPrincipal } from '../quotas/principal.ts'

/** Calls at once: of all callers, of one principal, and of one contract. */
const SLOTS = 4
const SLOTS_PER_PRINCIPAL = 2
const SLOTS_PER_CONTRACT = 2
/** Calls that may wait: for one principal, and for one contract. Further ones are refused. */
const WAITING_PER_PRINCIPAL = 256
const WAITING_PER_CONTRACT = 64
/** What a refusal costs without a question: about what it takes to recover a key. */
export const REFUSED_KEY_MS = 3
/** What a call that ends in a refusal costs: the time that it took the chain, within these bounds. */
const LEAST_REFUSED_MS = 50
const MOST_REFUSED_MS = 500
/** What a contract has refused it is not asked again for so long. */
const REFUSAL_TTL_MS = 30_000
const MAX_REFUSALS = 10_000

/** A message, the account that is said to have signed it, and the signature. */
export type SignedRequest = Parameters<Chain['isSignedBy']>[0]

/**
 * Asks contracts about their signatures (ERC-1271, ERC-6492), which has the node of the chain run code that anybody may have written.
 *
 * Four calls run at once, two for a principal and two of a contract; wallets that are not deployed yet count as one contract, since names for
 * them cost nothing. So somebody who names a contract that computes without end holds up callers of this contract and no others. A call that
 * ends in a refusal is charged to the address of the caller, by the time that it took. A signature that was refused is refused again for 30
 * seconds without a call; an answer that did not come is not remembered.
 */
export class ContractCalls {
  readonly #chainId: number
  readonly #budget: WorkBudget
  readonly #byContract: FairQueue
  readonly #byPrincipal: FairQueue
  readonly #refused: LRUCache<string, true>

  constructor({ chainId, budget }: { readonly chainId: number; readonly budget: WorkBudget }) {
    this.#chainId = chainId
    this.#budget = budget
    this.#byContract = new FairQueue({
      ...{ work: 'chain', budget, slots: Infinity },
      ...{ slotsPerPrincipal: SLOTS_PER_CONTRACT, waitingPerPrincipal: WAITING_PER_CONTRACT },
    })
    this.#byPrincipal = new FairQueue({
      ...{ work: 'chain', budget, slots: SLOTS },
      ...{ slotsPerPrincipal: SLOTS_PER_PRINCIPAL, waitingPerPrincipal: WAITING_PER_PRINCIPAL },
    })
    this.#refused = new LRUCache({ max: MAX_REFUSALS, ttl: REFUSAL_TTL_MS })
  }

  /**
   * What the chain says to `question`, which is about `request`.
   *
   * @param principal - the address of the caller.
   * @throws {LadeError} `over_budget`, and what the question throws.
   */
  async ask(principal: string, request: SignedRequest, question: () => Promise<boolean>): Promise<boolean> {
    const name = nameOf(request)
    let processorMs = REFUSED_KEY_MS
    const call = async (): Promise<boolean> => {
      // Others of this principal, or the same one, may have been refused while this one waited.
      this.#budget.require(principal, 'chain')
      if (this.#refused.has(name)) return false
      const began = performance.now()
      try {
        return await question()
      } finally {
        processorMs = Math.min(Math.max(performance.now() - began, LEAST_REFUSED_MS), MOST_REFUSED_MS)
      }
    }
    try {
      if (this.#refused.has(name)) return false
      const contract = this.#contractOf(request)
      const isSigned = await this.#byContract.run(contract, () => this.#byPrincipal.run(principal, call))
      if (isSigned) processorMs = 0
      else if (!this.#refused.has(name)) this.#refused.set(name, true)
      return isSigned
    } finally {
      if (processorMs > 0) this.#budget.spend({ principal, work: 'chain', processorMs })
    }
  }

  #contractOf({ account, signature }: SignedRequest): string {
    if (isErc6492Signature(toHex(signature))) return `wallet:${this.#chainId}:not deployed`
    return walletPrincipal({ chainId: this.#chainId, address: account })
  }
}

function nameOf({ account, message, signature }: SignedRequest): string {
  const hash = createHash('sha256').update(account.toLowerCase()).update(createHash('sha256').update(message).digest())
  return hash.update(signature).digest('base64')
}
