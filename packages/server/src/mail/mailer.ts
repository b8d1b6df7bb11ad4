/** A mail of plain text to one address. */
export interface Mail {
  /** An address in its one spelling, as `normalizeEmail` gives it. */
  readonly to: string
  /** One line. */
  readonly subject: string
  /** Lines with line feeds between. */
  readonly text: string
}

/**
 * `taken` means that the mail server answers for the mail from now on; whether it arrives, and whether anybody is there, is
 * not known. `refused` means that the server was reached and did not take this mail; `reason` is a line for the log.
 */
export type SendOutcome = { readonly outcome: 'taken' } | { readonly outcome: 'refused'; readonly reason: string }

/**
 * Hands mail to a server that sends it on.
 *
 * @example
 * await mailer.send({ to: 'ada@example.org', subject: 'Your code', text: '123456' }) // { outcome: 'taken' }
 */
export interface Mailer {
  /**
   * Ends within a bounded time.
   *
   * @throws {LadeError} `mail_failed` when it did not come to this mail: no server can be reached, or none answers in time,
   *   or it wants other credentials, or its certificate does not hold. The `cause` is for the log, and names no secret.
   */
  send(mail: Mail): Promise<SendOutcome>
  /** Ends what is under way; it throws `mail_failed`. Safe to call twice. */
  close(): void
}
