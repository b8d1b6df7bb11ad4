/** The node is of another chain than the configured one. Nothing may be sent there. */
export class WrongChainError extends Error {
  override readonly name = 'WrongChainError'

  constructor(configured: number, found: number) {
    super(`The node is on chain ${found}, but LADE_PROVER_CHAIN_ID is ${configured}.`)
  }
}
