import type { Address, Hex } from 'viem'
import {
  BOND_PARTS,
  MISSES_TO_SLASH,
  type ModelDeal,
  type ModelEvent,
  type ModelState,
  type Terms,
} from './model-deal.ts'
import type { ModelToken } from './model-token.ts'
import { Refusal } from './refusal.ts'

export interface ModelSettings {
  readonly periodSeconds: number
  readonly windowSeconds: number
  readonly maxDurationSeconds: number
  readonly seedDelayBlocks: number
  readonly firstDealId: bigint
}

/** Where and by whom a call is made. */
export interface CallContext {
  readonly caller: Address
  readonly now: number
  readonly block: number
}

/** What is right about a proof that is sent. */
export interface ModelProof {
  /** It names a header that the call does not have. */
  readonly isWithoutHeader?: boolean
  readonly isHeaderRight: boolean
  readonly isRight: boolean
  /** The oldest block whose hash the chain knows. */
  readonly oldestBlock: number
}

/**
 * The rules of the marketplace once more, in TypeScript: what each call does, which events it emits, and when it is refused.
 *
 * It is written for reading and not after the contract: time is a list of what is left to account for, money is moved and never computed
 * twice. A fuzz test compares both after every call.
 */
export class MarketModel {
  readonly deals = new Map<bigint, ModelDeal>()
  readonly settings: ModelSettings
  readonly token: ModelToken
  #events: ModelEvent[] = []

  constructor(settings: ModelSettings, token: ModelToken) {
    this.settings = settings
    this.token = token
  }

  get lastDealId(): bigint {
    return this.settings.firstDealId + BigInt(this.deals.size) - 1n
  }

  /** Runs one call; what it did is undone if it is refused. @throws {Refusal} */
  call(ids: readonly bigint[], act: () => void): readonly ModelEvent[] {
    const before = new Map(ids.map((dealId) => [dealId, structuredClone(this.deals.get(dealId))]))
    const size = this.deals.size
    const undoToken = this.token.checkpoint()
    this.#events = []
    try {
      act()
      return this.#events
    } catch (error) {
      for (const dealId of [...this.deals.keys()].slice(size)) this.deals.delete(dealId)
      for (const [dealId, deal] of before) if (deal !== undefined) this.deals.set(dealId, deal)
      undoToken()
      throw error
    }
  }

  propose({ caller, now }: CallContext, proposals: readonly Terms[]): void {
    if (proposals.length === 0) throw new Refusal('NoProposals')
    let total = 0n
    for (const terms of proposals) {
      if (terms.leafCount === 0n || terms.leafCount > terms.pieceSize / 32n) throw new Refusal('InvalidLeafCount')
      const { periodSeconds, maxDurationSeconds } = this.settings
      if (terms.durationSeconds < periodSeconds || terms.durationSeconds > maxDurationSeconds)
        throw new Refusal('DurationOutOfRange')
      const dealId = this.lastDealId + 1n
      this.deals.set(dealId, {
        ...{
          terms,
          client: caller,
          state: 'Proposed',
          isEnding: false,
          bondState: terms.bond > 0n ? 'Bonded' : 'None',
        },
        ...{ since: now, accountedUntil: 0, termEnd: now + terms.durationSeconds, extraSeconds: 0, seedBlock: 0 },
        ...{ period: 0, misses: 0, missesInARow: 0, remaining: terms.totalPayment, extraPayment: 0n },
        ...{ earned: 0n, refundable: 0n, bondLeft: 0n, forfeited: 0n },
      })
      const { prover, commp, pieceSize, leafCount, totalPayment, bond } = terms
      const duration = BigInt(terms.durationSeconds)
      this.#emit('DealProposed', {
        dealId,
        client: caller,
        prover,
        commp,
        pieceSize,
        leafCount,
        duration,
        totalPayment,
        bond,
      })
      total += totalPayment
    }
    this.token.pull(caller, total)
  }

  accept({ caller, now }: CallContext, dealId: bigint, hasRightHash: boolean): void {
    const deal = this.#in(dealId, 'Proposed')
    if (caller !== deal.terms.prover) throw new Refusal('NotProver')
    if (this.#windowIsOver(deal, now)) throw new Refusal('AcceptanceOver')
    if (!hasRightHash) throw new Refusal('OtherTerms')
    deal.state = 'Active'
    deal.termEnd += now - deal.since
    deal.since = now
    deal.accountedUntil = now
    const { bond } = deal.terms
    deal.bondLeft = bond
    this.#emit('DealAccepted', { dealId, endsAt: BigInt(deal.termEnd + deal.extraSeconds), bond })
    if (bond > 0n) this.token.pull(caller, bond)
  }

  withdraw({ caller, now }: CallContext, dealId: bigint): void {
    const deal = this.#in(dealId, 'Proposed')
    if (caller !== deal.client && !this.#windowIsOver(deal, now)) throw new Refusal('NotClient')
    this.#giveBack(dealId, deal)
  }

  extend({ caller, now }: CallContext, dealId: bigint, seconds: number, payment: bigint): void {
    const deal = this.#open(dealId, now)
    if (caller !== deal.client) throw new Refusal('NotClient')
    if (deal.isEnding) throw new Refusal('AlreadyEnding')
    if (deal.state === 'Proposed' && this.#windowIsOver(deal, now)) throw new Refusal('AcceptanceOver')
    if (deal.state === 'Active' && now >= deal.termEnd) throw new Refusal('DealOver')
    const whole = deal.termEnd - deal.since + deal.extraSeconds + seconds
    if (seconds === 0 || whole > this.settings.maxDurationSeconds) throw new Refusal('DurationOutOfRange')
    deal.extraSeconds += seconds
    deal.extraPayment += payment
    this.#reachExtension(dealId, deal)
    this.#emit('DealExtended', { dealId, extraDuration: BigInt(seconds), extraPayment: payment })
    this.token.pull(caller, payment)
  }

  end({ caller, now }: CallContext, dealId: bigint): void {
    const deal = this.#open(dealId, now)
    if (caller !== deal.client) throw new Refusal('NotClient')
    if (deal.state === 'Proposed') {
      this.#giveBack(dealId, deal)
      return
    }
    if (deal.isEnding) throw new Refusal('AlreadyEnding')
    if (now >= deal.termEnd) throw new Refusal('DealOver')
    const isProven = now < deal.accountedUntil
    const noticeEnd = (isProven ? deal.accountedUntil : this.#periodEnd(deal)) + this.settings.periodSeconds
    let refund = 0n
    // First the time that is furthest away is given up, then what is left of the term.
    const tooMuchExtra = Math.min(deal.extraSeconds, Math.max(0, deal.termEnd + deal.extraSeconds - noticeEnd))
    if (tooMuchExtra > 0) {
      const kept = (deal.extraPayment * BigInt(deal.extraSeconds - tooMuchExtra)) / BigInt(deal.extraSeconds)
      refund += deal.extraPayment - kept
      deal.extraPayment = kept
      deal.extraSeconds -= tooMuchExtra
    }
    if (noticeEnd < deal.termEnd) {
      const cut = (deal.remaining * BigInt(deal.termEnd - noticeEnd)) / BigInt(deal.termEnd - deal.accountedUntil)
      refund += cut
      deal.remaining -= cut
      deal.termEnd = noticeEnd
    }
    deal.isEnding = true
    deal.refundable += refund
    this.#emit('DealEnding', { dealId, endsAt: BigInt(deal.termEnd + deal.extraSeconds), refund })
    this.#pay(dealId, deal)
  }

  /** @returns the reason why it is not opened. */
  openChallenge(context: CallContext, dealId: bigint): string | undefined {
    const reason = this.#unprovable(context, dealId)
    const deal = this.deals.get(dealId)
    if (reason !== undefined || deal === undefined) return reason
    if (deal.seedBlock !== 0) return 'ChallengeAlreadyOpen'
    deal.seedBlock = context.block + this.settings.seedDelayBlocks
    this.#emit('ChallengeOpened', { dealId, period: deal.period, seedBlock: BigInt(deal.seedBlock) })
    return undefined
  }

  /** @returns the reason why it is not proven. */
  prove(context: CallContext, dealId: bigint, proof: ModelProof): string | undefined {
    const reason = this.#unprovable(context, dealId)
    const deal = this.deals.get(dealId)
    if (reason !== undefined || deal === undefined) return reason
    if (deal.seedBlock === 0) return 'ChallengeNotOpen'
    if (proof.isWithoutHeader === true) return 'InvalidHeader'
    if (context.block <= deal.seedBlock) return 'ChallengeNotDrawn'
    if (deal.seedBlock < proof.oldestBlock) return 'ChallengeLapsed'
    if (!proof.isHeaderRight) return 'InvalidHeader'
    if (!proof.isRight) return 'InvalidProof'
    deal.missesInARow = 0
    const { period } = deal
    const pay = this.#endPeriod(dealId, deal)
    deal.earned += pay
    this.#emit('PeriodProven', { dealId, period, pay })
    return undefined
  }

  /** An event of a batch, about a deal that it left out. */
  skip(dealId: bigint, reason: Hex): void {
    this.#emit('Skipped', { dealId, reason })
  }

  slash({ now }: CallContext, dealId: bigint): void {
    const deal = this.#in(dealId, 'Active')
    const { period } = deal
    this.#passMissed(dealId, deal, now)
    if (deal.period === period) throw new Refusal('NothingMissed')
    this.#pay(dealId, deal)
  }

  settle({ now }: CallContext, dealId: bigint): void {
    const deal = this.deals.get(dealId)
    if (deal === undefined || deal.state === 'Proposed' || deal.state === 'Withdrawn') throw new Refusal('WrongState')
    const before = deal.state
    if (before === 'Active') this.#passMissed(dealId, deal, now)
    if (deal.state === 'Active' && now >= deal.termEnd) {
      deal.state = 'Settled'
      this.#release(dealId, deal)
      this.#emit('DealSettled', { dealId })
    } else if (deal.state === before && deal.earned + deal.refundable + deal.forfeited + releasedOf(deal) === 0n) {
      throw new Refusal('NothingToSettle')
    }
    this.#pay(dealId, deal)
  }

  #emit(name: string, args: Readonly<Record<string, unknown>>): void {
    this.#events.push({ name, args })
  }

  #in(dealId: bigint, state: ModelState): ModelDeal {
    const deal = this.deals.get(dealId)
    if (deal?.state !== state) throw new Refusal('WrongState')
    return deal
  }

  /** A deal that a client can still change, with all that was missed accounted for. */
  #open(dealId: bigint, now: number): ModelDeal {
    const deal = this.deals.get(dealId)
    if (deal?.state === 'Active') this.#passMissed(dealId, deal, now)
    if (deal?.state !== 'Active' && deal?.state !== 'Proposed') throw new Refusal('WrongState')
    return deal
  }

  #unprovable({ caller, now }: CallContext, dealId: bigint): string | undefined {
    const deal = this.deals.get(dealId)
    if (deal?.state !== 'Active') return 'WrongState'
    if (caller !== deal.terms.prover) return 'NotProver'
    this.#passMissed(dealId, deal, now)
    if (deal.state !== 'Active') return 'WrongState'
    if (now >= deal.termEnd) return 'DealOver'
    return now < deal.accountedUntil ? 'AlreadyProven' : undefined
  }

  #windowIsOver(deal: ModelDeal, now: number): boolean {
    return now > deal.since + this.settings.windowSeconds
  }

  /** A period is followed by a whole one, or is the last. */
  #periodEnd({ accountedUntil, termEnd }: ModelDeal): number {
    const next = accountedUntil + this.settings.periodSeconds
    return next + this.settings.periodSeconds > termEnd ? termEnd : next
  }

  #passMissed(dealId: bigint, deal: ModelDeal, now: number): void {
    while (deal.state === 'Active' && deal.accountedUntil < deal.termEnd && this.#periodEnd(deal) <= now) {
      const { period } = deal
      deal.misses += 1
      deal.missesInARow += 1
      if (deal.missesInARow === MISSES_TO_SLASH) deal.state = 'Slashed'
      const tenth = (deal.terms.bond + BOND_PARTS - 1n) / BOND_PARTS
      const forfeited = this.#forfeit(deal, tenth)
      const refund = this.#endPeriod(dealId, deal)
      deal.refundable += refund
      this.#emit('PeriodMissed', { dealId, period, refund, forfeited })
      if (deal.missesInARow < MISSES_TO_SLASH) continue
      const rest = deal.remaining + deal.extraPayment
      deal.refundable += rest
      deal.remaining = 0n
      deal.extraPayment = 0n
      this.#emit('DealSlashed', { dealId, refund: rest, forfeited: this.#forfeit(deal, deal.bondLeft) })
    }
  }

  #endPeriod(dealId: bigint, deal: ModelDeal): bigint {
    const end = this.#periodEnd(deal)
    const share = (deal.remaining * BigInt(end - deal.accountedUntil)) / BigInt(deal.termEnd - deal.accountedUntil)
    deal.remaining -= share
    deal.accountedUntil = end
    deal.seedBlock = 0
    deal.period += 1
    this.#reachExtension(dealId, deal)
    return share
  }

  #reachExtension(dealId: bigint, deal: ModelDeal): void {
    if (deal.state !== 'Active' || deal.extraSeconds === 0 || deal.accountedUntil !== deal.termEnd) return
    deal.termEnd += deal.extraSeconds
    deal.remaining += deal.extraPayment
    deal.extraSeconds = 0
    deal.extraPayment = 0n
    this.#release(dealId, deal)
  }

  #forfeit(deal: ModelDeal, atMost: bigint): bigint {
    if (deal.bondState !== 'Bonded') return 0n
    const amount = deal.bondLeft < atMost ? deal.bondLeft : atMost
    deal.bondLeft -= amount
    deal.forfeited += amount
    return amount
  }

  #release(dealId: bigint, deal: ModelDeal): void {
    if (deal.bondState !== 'Bonded') return
    deal.bondState = 'Released'
    this.#emit('BondReleased', { dealId, amount: deal.bondLeft })
  }

  #giveBack(dealId: bigint, deal: ModelDeal): void {
    const refund = deal.remaining + deal.extraPayment
    deal.state = 'Withdrawn'
    deal.remaining = 0n
    deal.extraPayment = 0n
    this.#emit('DealWithdrawn', { dealId, refund })
    this.token.push(deal.client, refund)
  }

  #pay(dealId: bigint, deal: ModelDeal): void {
    const bond = releasedOf(deal)
    if (deal.earned + bond > 0n && this.token.tryPush(deal.terms.prover, deal.earned + bond)) {
      this.#emit('Paid', { dealId, to: deal.terms.prover, pay: deal.earned, bond })
      deal.earned = 0n
      deal.bondLeft -= bond
    }
    const { refundable, forfeited } = deal
    if (refundable + forfeited > 0n && this.token.tryPush(deal.client, refundable + forfeited)) {
      this.#emit('Paid', { dealId, to: deal.client, pay: refundable, bond: forfeited })
      deal.refundable = 0n
      deal.forfeited = 0n
    }
  }
}

function releasedOf(deal: ModelDeal): bigint {
  return deal.bondState === 'Released' ? deal.bondLeft : 0n
}
