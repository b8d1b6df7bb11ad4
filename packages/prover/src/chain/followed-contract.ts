import type { DealWatch } from './deal-watch.ts'
import type { GasUse } from './gas-use.ts'
import type { Marketplace } from './marketplace/marketplace.ts'

/** A contract whose deals a prover serves, and what it has learnt about it. */
export interface FollowedContract {
  readonly marketplace: Marketplace
  readonly watch: DealWatch
  readonly gasUse: GasUse
}
