/** A setting of `lade prover`, for its documentation and its flags. */
export interface ProverSetting {
  readonly name: string
  /** The text that is read where none is given. */
  readonly default: string
  readonly about: string
}
