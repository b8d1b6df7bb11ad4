import { randomUUID } from 'node:crypto'

export interface RefusalOptions extends ErrorOptions {
  /** Answers that Curio also logs carry an id in their text. @default true */
  readonly hasEventId?: boolean
  readonly retryAfterSeconds?: number
}

/**
 * An answer that is no success, in Curio's form: a status and plain text, by which callers of Curio tell what happened.
 *
 * @example
 * new Refusal(404, 'Data set not found', { hasEventId: false }).text // 'Data set not found\n'
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  /** As it is sent. */
  readonly text: string
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, message: string, options: RefusalOptions = {}) {
    super(message, options)
    this.status = status
    this.text = options.hasEventId === false ? `${message}\n` : `${message} [eid: ${randomUUID()}]\n`
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** What Go's router answers where there is nothing. */
export function notFound(): Refusal {
  return new Refusal(404, '404 page not found', { hasEventId: false })
}
