import { PAID_MS_PER_BYTE, type Work, type WorkBudget } from './work-budget.ts'

/** What is paid beside the bytes: a body of a few bytes takes about as long. */
const FREE_MS = 1

export interface BodyBillOptions {
  readonly budget: Pick<WorkBudget, 'require' | 'spend' | 'takeBack'>
  /** Who sends the body. */
  readonly principal: string
  /** @default 'hash' */
  readonly work?: Work
}

/**
 * Charges the processor time of one body to its sender, and lets the bytes pay for it.
 *
 * The first millisecond is free, and bytes pay ahead: what one block leaves over pays for a later block of the same body. Processor time beyond
 * that is unpaid as soon as it is used.
 *
 * @example
 * const bill = new BodyBill({ budget, principal: 'ip:192.0.2.7' })
 * bill.pay(1_048_576)
 * bill.spend(4) // milliseconds, all of them paid
 * bill.takeBack() // the content does not match its id, so nothing was paid
 */
export class BodyBill {
  readonly principal: string
  readonly #budget: BodyBillOptions['budget']
  readonly #work: Work
  #creditMs = FREE_MS
  #paidMs = 0

  constructor({ budget, principal, work = 'hash' }: BodyBillOptions) {
    this.#budget = budget
    this.principal = principal
    this.#work = work
  }

  /**
   * Refuses further work while the sender is over its budget.
   *
   * @throws {LadeError} `over_budget`.
   */
  require(): void {
    this.#budget.require(this.principal, this.#work)
  }

  /** Credits bytes of the body that have arrived. @param times - how many times the usual amount each byte pays for. */
  pay(sizeBytes: number, times = 1): void {
    this.#creditMs += sizeBytes * PAID_MS_PER_BYTE * times
  }

  /** Charges processor time. */
  spend(processorMs: number): void {
    const paidMs = Math.min(this.#creditMs, processorMs)
    this.#creditMs -= paidMs
    this.#paidMs += paidMs
    const movedBytes = paidMs / PAID_MS_PER_BYTE
    this.#budget.spend({ principal: this.principal, work: this.#work, processorMs, movedBytes })
  }

  /** Makes unpaid what the bytes have paid for so far. @param share - the part of it that becomes unpaid. */
  takeBack(share = 1): void {
    this.#budget.takeBack({ principal: this.principal, work: this.#work, paidMs: this.#paidMs * share })
    this.#paidMs = 0
  }
}
