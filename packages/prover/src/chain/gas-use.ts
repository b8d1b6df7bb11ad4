/** The calls that a prover makes. */
export const PROVER_CALLS = ['acceptDeal', 'openChallenge', 'prove', 'settle'] as const

export type ProverCallName = (typeof PROVER_CALLS)[number]

/** What the calls use on Ethereum, with a piece of 1 GiB: the expectation before the first of each. */
const FIRST_GUESS: Readonly<Record<ProverCallName, bigint>> = {
  acceptDeal: 55_000n,
  openChallenge: 37_208n,
  prove: 85_127n,
  settle: 75_000n,
}

/** How much gas each call can be expected to use: as much as the last one did. Chains count gas in different ways. */
export class GasUse {
  readonly #used = new Map<ProverCallName, bigint>()

  of(call: ProverCallName): bigint {
    return this.#used.get(call) ?? FIRST_GUESS[call]
  }

  note(call: ProverCallName, gasUsed: bigint): void {
    this.#used.set(call, gasUsed)
  }
}
