/** The contract refuses the call with this error, and nothing has happened. */
export class Refusal extends Error {
  readonly reason: string
  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}
