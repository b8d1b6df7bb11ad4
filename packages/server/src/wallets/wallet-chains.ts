import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { FairQueue } from '@lade/node/budget/fair-queue'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import type { Chain } from '../chain/chain.ts'

/** Questions to the chain at once, of all callers and of one principal. */
const SLOTS = 32
const SLOTS_PER_PRINCIPAL = 4
const WAITING_PER_PRINCIPAL = 256
/** What a question costs that ends in a refusal: a price for the node's work, and no measurement. 100 at once use up a budget. */
const REFUSED_QUESTION_MS = 50
/** Signatures that no key made are looked at no faster than this, for all callers together, so that others come in between. */
const PAUSE_AFTER_MISMATCH_MS = 20
/** What a refusal costs without a question: about what it takes to recover a key. */
const REFUSED_KEY_MS = 3

/** What wallets are asked about. */
export type WalletChain = Pick<Chain, 'chainId' | 'isSignedBy' | 'usdcBalance'>

interface KeyCheck {
  readonly isByKey: boolean
  readonly question: () => Promise<boolean>
}

export interface WalletChainsOptions {
  readonly chain: Chain
  readonly budget: WorkBudget
}

/**
 * The chain as those may ask it who claim to be wallets: fake signatures and wallets without USDC must not have it asked without end.
 *
 * A signature that a key alone can tell asks nobody. Keys are recovered one at a time, those of others before those of who has used a lot; behind
 * one that does not fit comes a pause, so that fake signatures hold up nobody. Questions run four at once for a principal, and first for whoever has used the least. A
 * question that ends in a refusal (not signed, no USDC, no answer) is charged to the budget as 50 ms of unpaid time; who has used that up is
 * refused before anything is asked. Questions that end well are free, so nobody is shut out by others.
 */
export class WalletChains {
  readonly #chain: Chain
  readonly #budget: WorkBudget
  readonly #keys: FairQueue
  readonly #questions: FairQueue

  constructor({ chain, budget }: WalletChainsOptions) {
    this.#chain = chain
    this.#budget = budget
    const queue = { work: 'chain', budget, waitingPerPrincipal: WAITING_PER_PRINCIPAL } as const
    this.#keys = new FairQueue({ ...queue, slots: 1 })
    this.#questions = new FairQueue({
      ...queue,
      slots: SLOTS,
      slotsPerPrincipal: SLOTS_PER_PRINCIPAL,
    })
  }

  /**
   * The chain for one request. Besides what the chain throws, its questions throw `over_budget`.
   *
   * @param principal - whom the questions are charged to: the address of the caller, since nobody knows yet whether it is the wallet.
   * @param isGone - true when the client has gone: nothing is asked for it then.
   */
  for(principal: string, isGone: () => boolean = () => false): WalletChain {
    const chain = this.#chain
    return {
      chainId: chain.chainId,
      isSignedBy: (request) =>
        this.#charged(principal, Boolean, async (ask) => {
          const { isByKey, question } = await this.#isByKey(principal, request)
          return isByKey || ask(() => (isGone() ? Promise.resolve(false) : question()))
        }),
      usdcBalance: (account) =>
        this.#charged(
          principal,
          (microUsdc) => microUsdc > 0n,
          (ask) => ask(() => chain.usdcBalance(account)),
        ),
    }
  }

  /** Whether the key itself signed, and otherwise what the chain is to be asked. */
  #isByKey(principal: string, request: Parameters<Chain['isSignedBy']>[0]): Promise<KeyCheck> {
    return new Promise((resolve, reject) => {
      const check = async (): Promise<void> => {
        // Others of this principal may have been refused while this one waited.
        this.#budget.require(principal, 'chain')
        // Not all that have come in by now in one go: the loop goes round between two of them.
        await turn()
        let question = (): Promise<boolean> => Promise.resolve(false)
        const isByKey = await this.#chain.isSignedBy(request, async (asked) => {
          question = asked
          return false
        })
        resolve({ isByKey, question })
        if (!isByKey) await sleep(PAUSE_AFTER_MISMATCH_MS)
      }
      this.#keys.run(principal, check).catch(reject)
    })
  }

  /** Runs a check whose questions go through `ask`, and charges it unless its result is good. */
  async #charged<Result>(
    principal: string,
    isGood: (result: Result) => boolean,
    check: (ask: <Answer>(question: () => Promise<Answer>) => Promise<Answer>) => Promise<Result>,
  ): Promise<Result> {
    this.#budget.require(principal, 'chain')
    let processorMs = REFUSED_KEY_MS
    try {
      const result = await check((question) =>
        this.#questions.run(principal, () => {
          this.#budget.require(principal, 'chain')
          processorMs = REFUSED_QUESTION_MS
          return question()
        }),
      )
      if (isGood(result)) processorMs = 0
      return result
    } finally {
      if (processorMs > 0) this.#budget.spend({ principal, work: 'chain', processorMs })
    }
  }
}
