import type { FastifyBaseLogger } from 'fastify'
import type { ChainAccount } from './chain-account.ts'
import type { Marketplace } from './marketplace/marketplace.ts'
import { NoMarketplaceError, openMarketplace } from './marketplace/open-marketplace.ts'

const MAX_WAIT_MS = 10_000

/** The configured contracts that are not open yet. One that cannot be followed holds none of the others up. */
export class ContractOpenings {
  readonly #waiting: Set<`0x${string}`>
  readonly #said = new Set<string>()
  readonly #log: FastifyBaseLogger | undefined
  #waitMs: number
  #againAt = 0

  constructor(addresses: readonly `0x${string}`[], pollMs: number, log: FastifyBaseLogger | undefined) {
    this.#waiting = new Set(addresses.map((address) => address.toLowerCase() as `0x${string}`))
    this.#waitMs = pollMs
    this.#log = log
  }

  /** True while a configured address has no contract that can be followed. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /**
   * Opens those that can be opened by now, each once; what keeps the others from it is logged once.
   *
   * @throws {BaseError} of viem, when the chain cannot be asked.
   */
  async *open(chain: ChainAccount): AsyncGenerator<Marketplace> {
    if (!this.isWaiting || performance.now() < this.#againAt) return
    for (const address of this.#waiting) {
      try {
        const marketplace = await openMarketplace(chain, address)
        this.#waiting.delete(address)
        yield marketplace
      } catch (error) {
        if (!(error instanceof NoMarketplaceError)) throw error
        if (!this.#said.has(error.message)) this.#log?.warn(error.message)
        this.#said.add(error.message)
      }
    }
    // It may be deployed at this moment, or never.
    this.#againAt = performance.now() + this.#waitMs
    this.#waitMs = Math.min(2 * this.#waitMs, MAX_WAIT_MS)
  }
}
