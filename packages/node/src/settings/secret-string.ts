/**
 * Text that must not be shown: prints `[redacted]` wherever it is printed, logged, joined or serialized.
 *
 * The value leaves only through {@link SecretString.reveal}, so that every place that uses a secret can be found by that
 * name. It does not survive `structuredClone` or a message to another thread; reveal it there on purpose.
 *
 * @example
 * const secret = new SecretString('correct horse')
 * `${secret}` // '[redacted]'
 * JSON.stringify({ secret }) // '{"secret":"[redacted]"}'
 * secret.reveal() // 'correct horse'
 */
export class SecretString {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The secret itself. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return '[redacted]'
  }

  toJSON(): string {
    return '[redacted]'
  }

  /** What `console.log` and `util.inspect` print. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[redacted]'
  }
}
