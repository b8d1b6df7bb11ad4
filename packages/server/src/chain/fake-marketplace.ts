import type {
  Address,
  DealEvent,
  MarketplaceCall,
  MarketplaceDeal,
  MarketplaceDealState,
  MarketplaceVersion,
} from './chain.ts'

export const FAKE_ACCEPTANCE_MS = 24 * 3_600_000
const MISSES_TO_SLASH = 3
/** A missed period takes one of so many parts of the bond. */
const BOND_PARTS = 10n
const PROVER: Address = '0x000000000000000000000000000000000000dEaD'

/** What a prover does with a deal; without effect where the contract refuses it. */
export interface FakeAct {
  readonly kind: 'accept' | 'prove'
  /** @default the contract for new deals */
  readonly contract?: Address
  readonly dealId: bigint
}

interface Deal {
  state: Exclude<MarketplaceDealState, 'ending'>
  /** The client has given notice. */
  isEnding: boolean
  since: number
  durationMs: number
  extraMs: number
  remaining: bigint
  extra: bigint
  earned: bigint
  refundable: bigint
  /** Of the bond: as agreed, what is left of it, what is the prover's again, and what is due to the client. */
  bond: bigint
  bondLeft: bigint
  bondDue: bigint
  forfeited: bigint
  accountedUntil: number
  misses: number
}

export interface FakeMarketplaceOptions {
  readonly client: Address
  readonly periodMs: number
  /** @default 1 */
  readonly version?: MarketplaceVersion
  /** @default 1n */
  readonly firstDealId?: bigint
  /** Whether the token refuses payments. */
  readonly isFrozen: () => boolean
}

/** The rules of the marketplace contract as far as money and time go, for the fake chain. */
export class FakeMarketplace {
  readonly events: DealEvent[] = []
  readonly #deals = new Map<bigint, Deal>()
  readonly #client: Address
  readonly #periodMs: number
  readonly #version: MarketplaceVersion
  readonly #firstDealId: bigint
  readonly #isFrozen: () => boolean

  constructor({ client, periodMs, version = 1, firstDealId = 1n, isFrozen }: FakeMarketplaceOptions) {
    this.#client = client
    this.#periodMs = periodMs
    this.#version = version
    this.#firstDealId = firstDealId
    this.#isFrozen = isFrozen
  }

  get nextDealId(): bigint {
    return this.#firstDealId + BigInt(this.#deals.size)
  }

  deal(dealId: bigint, asOf: number): MarketplaceDeal | undefined {
    const deal = this.#deals.get(dealId)
    if (deal === undefined) return undefined
    const reachedTermEndsAt = endOf(deal)
    return {
      state: deal.isEnding && deal.state === 'active' ? 'ending' : deal.state,
      acceptableUntil: deal.since + FAKE_ACCEPTANCE_MS,
      accountedUntil: deal.accountedUntil,
      reachedTermEndsAt,
      endsAt: reachedTermEndsAt + deal.extraMs,
      missesInARow: deal.misses,
      refundableMicroUsdc: deal.refundable + deal.forfeited,
      periodMs: this.#periodMs,
      asOf,
    }
  }

  /** False, and nothing happened, when the contract reverts. */
  call(call: MarketplaceCall, at: number): boolean {
    switch (call.kind) {
      case 'approve':
        return true
      case 'propose': {
        if (this.#isFrozen()) return false
        for (const { durationSeconds, paymentMicroUsdc, bondMicroUsdc } of call.deals) {
          const dealId = this.nextDealId
          const times = { since: at, durationMs: durationSeconds * 1000, extraMs: 0, accountedUntil: 0, misses: 0 }
          const amounts = { remaining: paymentMicroUsdc, extra: 0n, earned: 0n, refundable: 0n }
          const bond = this.#version === 1 ? 0n : bondMicroUsdc
          const bonds = { bond, bondLeft: 0n, bondDue: 0n, forfeited: 0n }
          this.#deals.set(dealId, { state: 'proposed', isEnding: false, ...times, ...amounts, ...bonds })
          this.events.push({ dealId, kind: 'proposed', client: this.#client, microUsdc: paymentMicroUsdc })
        }
        return true
      }
      case 'extend':
        return !this.#isFrozen() && this.#extend(call, at)
      case 'withdraw':
        return !this.#isFrozen() && this.#withdraw(call.dealId)
      case 'settle':
        return this.#settle(call.dealId, at)
      case 'slash':
        return this.#slash(call.dealId, at)
      case 'end':
        return this.#version !== 1 && this.#end(call.dealId, at)
    }
  }

  act({ kind, dealId }: FakeAct, at: number): void {
    const deal = this.#deals.get(dealId)
    if (deal === undefined) return
    if (kind === 'accept') {
      if (deal.state !== 'proposed' || at > deal.since + FAKE_ACCEPTANCE_MS) return
      Object.assign(deal, { state: 'active', since: at, accountedUntil: at, bondLeft: deal.bond })
      this.events.push({ dealId, kind: 'accepted', endsAt: endOf(deal) + deal.extraMs, bondMicroUsdc: deal.bond })
      return
    }
    if (deal.state !== 'active') return
    this.#accountForMissed(dealId, deal, at)
    if (!isState(deal, 'active') || at >= endOf(deal) || at < deal.accountedUntil) return
    deal.misses = 0
    const microUsdc = account(deal, this.#periodMs)
    deal.earned += microUsdc
    this.events.push({ dealId, kind: 'proven', microUsdc })
  }

  #extend(call: Extract<MarketplaceCall, { kind: 'extend' }>, at: number): boolean {
    const { dealId, extraSeconds, paymentMicroUsdc: microUsdc } = call
    const deal = this.#deals.get(dealId)
    if (deal === undefined) return false
    if (deal.state === 'active') this.#accountForMissed(dealId, deal, at)
    const isOpen =
      (deal.state === 'active' && at < endOf(deal)) ||
      (deal.state === 'proposed' && at <= deal.since + FAKE_ACCEPTANCE_MS)
    if (!isOpen || deal.isEnding) return false
    deal.extraMs += extraSeconds * 1000
    deal.extra += microUsdc
    enterExtension(deal)
    this.events.push({ dealId, kind: 'extended', extraMs: extraSeconds * 1000, microUsdc })
    return true
  }

  #withdraw(dealId: bigint): boolean {
    const deal = this.#deals.get(dealId)
    if (deal?.state !== 'proposed') return false
    const microUsdc = deal.remaining + deal.extra
    Object.assign(deal, { state: 'withdrawn', remaining: 0n, extra: 0n })
    this.events.push({ dealId, kind: 'withdrawn', microUsdc })
    return true
  }

  #settle(dealId: bigint, at: number): boolean {
    const deal = this.#deals.get(dealId)
    if (deal === undefined) return false
    if (deal.state === 'active') this.#accountForMissed(dealId, deal, at)
    if (isState(deal, 'active') && at >= endOf(deal)) {
      deal.state = 'settled'
      releaseBond(deal)
      this.events.push({ dealId, kind: 'settled' })
    } else if (deal.state === 'proposed' || deal.state === 'withdrawn') return false
    else if (!isOwed(deal)) return false
    this.#payBoth(dealId, deal)
    return true
  }

  #slash(dealId: bigint, at: number): boolean {
    const deal = this.#deals.get(dealId)
    if (deal?.state !== 'active') return false
    const before = this.events.length
    this.#accountForMissed(dealId, deal, at)
    if (this.events.length === before) return false
    this.#payBoth(dealId, deal)
    return true
  }

  /** Cuts the term to the current period and the one after it. */
  #end(dealId: bigint, at: number): boolean {
    const deal = this.#deals.get(dealId)
    if (deal?.state === 'proposed') return this.#withdraw(dealId)
    if (deal?.state === 'active') this.#accountForMissed(dealId, deal, at)
    if (deal === undefined || !isState(deal, 'active') || deal.isEnding || at >= endOf(deal)) return false
    deal.isEnding = true
    const lastEnd =
      (at < deal.accountedUntil ? deal.accountedUntil : endOfPeriod(deal, this.#periodMs)) + this.#periodMs
    if (lastEnd < endOf(deal)) {
      const cut = (deal.remaining * BigInt(endOf(deal) - lastEnd)) / BigInt(endOf(deal) - deal.accountedUntil)
      deal.remaining -= cut
      deal.refundable += cut
      deal.durationMs = lastEnd - deal.since
    }
    deal.refundable += deal.extra
    Object.assign(deal, { extra: 0n, extraMs: 0 })
    this.events.push({ dealId, kind: 'ending', endsAt: endOf(deal) })
    this.#payBoth(dealId, deal)
    return true
  }

  #accountForMissed(dealId: bigint, deal: Deal, at: number): void {
    while (deal.accountedUntil < endOf(deal) && at >= endOfPeriod(deal, this.#periodMs)) {
      const microUsdc = account(deal, this.#periodMs)
      deal.refundable += microUsdc
      deal.misses += 1
      forfeit(deal, (deal.bond + BOND_PARTS - 1n) / BOND_PARTS)
      this.events.push({ dealId, kind: 'missed', microUsdc })
      if (deal.misses < MISSES_TO_SLASH) continue
      const rest = deal.remaining + deal.extra
      Object.assign(deal, { state: 'slashed', remaining: 0n, extra: 0n })
      deal.refundable += rest
      forfeit(deal, deal.bondLeft)
      this.events.push({ dealId, kind: 'slashed', microUsdc: rest })
      return
    }
  }

  #payBoth(dealId: bigint, deal: Deal): void {
    if (this.#isFrozen()) return
    const owed = [
      [PROVER, deal.earned, deal.bondDue],
      [this.#client, deal.refundable, deal.forfeited],
    ] as const
    for (const [to, microUsdc, bondMicroUsdc] of owed) {
      if (microUsdc + bondMicroUsdc > 0n) this.events.push({ dealId, kind: 'paid', to, microUsdc, bondMicroUsdc })
    }
    Object.assign(deal, { earned: 0n, refundable: 0n, bondDue: 0n, forfeited: 0n })
  }
}

function forfeit(deal: Deal, most: bigint): void {
  const part = most < deal.bondLeft ? most : deal.bondLeft
  deal.bondLeft -= part
  deal.forfeited += part
}

function releaseBond(deal: Deal): void {
  deal.bondDue += deal.bondLeft
  deal.bondLeft = 0n
}

function isOwed({ earned, refundable, bondDue, forfeited }: Deal): boolean {
  return earned + refundable + bondDue + forfeited > 0n
}

/** A method may have changed what the compiler took for known. */
function isState(deal: Deal, state: Deal['state']): boolean {
  return deal.state === state
}

function account(deal: Deal, periodMs: number): bigint {
  const end = endOfPeriod(deal, periodMs)
  const left = BigInt(endOf(deal) - deal.accountedUntil)
  const share = (deal.remaining * BigInt(end - deal.accountedUntil)) / left
  deal.remaining -= share
  deal.accountedUntil = end
  enterExtension(deal)
  return share
}

function enterExtension(deal: Deal): void {
  if (deal.accountedUntil < endOf(deal) || deal.state !== 'active') return
  deal.durationMs += deal.extraMs
  deal.remaining += deal.extra
  // The bond is for the time that was agreed when it was put up.
  if (deal.extraMs > 0) releaseBond(deal)
  deal.extraMs = 0
  deal.extra = 0n
}

function endOf(deal: Deal): number {
  return deal.since + deal.durationMs
}

function endOfPeriod(deal: Deal, periodMs: number): number {
  const end = endOf(deal)
  return end - deal.accountedUntil < 2 * periodMs ? end : deal.accountedUntil + periodMs
}
