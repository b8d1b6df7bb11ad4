import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { FairQueue } from '@lade/node/budget/fair-queue'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import type { Address, Chain } from '../chain/chain.ts'
import { ContractCalls, REFUSED_KEY_MS, type SignedRequest } from './contract-calls.ts'

/** Balances that are asked for at once, of all callers and of one principal. */
const SLOTS = 32
const SLOTS_PER_PRINCIPAL = 4
const WAITING_PER_PRINCIPAL = 256
/** What a question costs that ends in a refusal: a price for the node's work, and no measurement. 100 at once use up a budget. */
const REFUSED_QUESTION_MS = 50
/** Signatures that no key made are looked at no faster than this, for those together who have sent some before, so that others come in between. */
const PAUSE_AFTER_MISMATCH_MS = 20
/** What wallets are asked about. */
export type WalletChain = Pick<Chain, 'chainId' | 'isSignedBy' | 'leastUsdcBalance'>

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
 * one that does not fit comes a pause, so that fake signatures hold up nobody. Contracts are called through `ContractCalls`, and balances are
 * asked for beside them. A question that ends in a refusal (not signed, no USDC, no answer) is charged to the budget as unpaid time; who has used
 * that up is refused before anything is asked. Questions that end well are free, so nobody is shut out by others.
 */
export class WalletChains {
  readonly #chain: Chain
  readonly #budget: WorkBudget
  readonly #keys: FairQueue
  readonly #balances: FairQueue
  readonly #contracts: ContractCalls
  readonly #mismatches = new Map<string, number>()

  constructor({ chain, budget }: WalletChainsOptions) {
    this.#chain = chain
    this.#budget = budget
    const queue = { work: 'chain', budget, waitingPerPrincipal: WAITING_PER_PRINCIPAL } as const
    this.#keys = new FairQueue({ ...queue, slots: 1 })
    this.#balances = new FairQueue({ ...queue, slots: SLOTS, slotsPerPrincipal: SLOTS_PER_PRINCIPAL })
    this.#contracts = new ContractCalls({ chainId: chain.chainId, budget })
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
      isSignedBy: (request) => this.#isSignedBy(principal, request, isGone),
      leastUsdcBalance: (account) => this.#leastUsdcBalance(principal, account),
    }
  }

  async #isSignedBy(principal: string, request: SignedRequest, isGone: () => boolean): Promise<boolean> {
    this.#budget.require(principal, 'chain')
    let mismatches = 0
    try {
      const { isByKey, question } = await this.#isByKey(principal, request)
      if (isByKey) return true
      mismatches = 1
      if (!isGone()) return await this.#contracts.ask(principal, request, question)
      this.#charge(principal, REFUSED_KEY_MS)
      return false
    } finally {
      this.#countMismatches(principal, -mismatches)
    }
  }

  async #leastUsdcBalance(principal: string, account: Address): Promise<bigint> {
    this.#budget.require(principal, 'chain')
    let processorMs = 0
    try {
      return await this.#balances.run(principal, async () => {
        this.#budget.require(principal, 'chain')
        processorMs = REFUSED_QUESTION_MS
        const microUsdc = await this.#chain.leastUsdcBalance(account)
        if (microUsdc > 0n) processorMs = 0
        return microUsdc
      })
    } finally {
      this.#charge(principal, processorMs)
    }
  }

  #requireBudget(principal: string): void {
    try {
      this.#budget.require(principal, 'chain')
    } catch (error) {
      this.#charge(principal, REFUSED_KEY_MS)
      throw error
    }
  }

  /** Signatures of a principal that no key made, and that no contract has accepted or refused yet. */
  #countMismatches(principal: string, change: number): void {
    const count = (this.#mismatches.get(principal) ?? 0) + change
    if (count === 0) this.#mismatches.delete(principal)
    else this.#mismatches.set(principal, count)
  }

  #charge(principal: string, processorMs: number): void {
    if (processorMs > 0) this.#budget.spend({ principal, work: 'chain', processorMs })
  }

  /** Whether the key itself signed, and otherwise what the chain is to be asked. */
  #isByKey(principal: string, request: SignedRequest): Promise<KeyCheck> {
    return new Promise((resolve, reject) => {
      const check = async (): Promise<void> => {
        // Others of this principal may have been refused while this one waited.
        this.#requireBudget(principal)
        // Not all that have come in by now in one go: the loop goes round between two of them.
        await turn()
        let question = (): Promise<boolean> => Promise.resolve(false)
        const isByKey = await this.#chain.isSignedBy(request, async (asked) => {
          question = asked
          return false
        })
        resolve({ isByKey, question })
        if (isByKey) return
        // An address that sends its first one is not waited for: a thousand of them would hold up everybody for long.
        const isFirst = this.#budget.usedMs(principal) === 0 && !this.#mismatches.has(principal)
        this.#countMismatches(principal, 1)
        if (!isFirst) await sleep(PAUSE_AFTER_MISMATCH_MS)
      }
      this.#keys.run(principal, check).catch(reject)
    })
  }
}
