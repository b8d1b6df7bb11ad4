import type { CallKind } from './deal.ts'

/** How much gas a contract's calls can be expected to use for one deal: as much as the last one did. Chains count gas in different ways. */
export class GasUse {
  readonly #expected: Readonly<Record<CallKind, bigint>>
  readonly #used = new Map<CallKind, bigint>()

  /** @param expected - before the first call of each kind. */
  constructor(expected: Readonly<Record<CallKind, bigint>>) {
    this.#expected = expected
  }

  of(kind: CallKind): bigint {
    return this.#used.get(kind) ?? this.#expected[kind]
  }

  /** @param deals - so many were served by one call. */
  note(kind: CallKind, gasUsed: bigint, deals = 1): void {
    const count = BigInt(deals)
    this.#used.set(kind, (gasUsed + count - 1n) / count)
  }
}
