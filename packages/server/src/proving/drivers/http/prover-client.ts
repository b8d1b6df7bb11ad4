import type * as z from 'zod'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { type ExchangeAnswer, type ExchangeRequest, type ExchangeTimes, exchange, MAX_TEXT_BYTES } from './exchange.ts'
import { refusalOf, unusable } from './stage-failure.ts'

const MAX_JSON_BYTES = 1024 * 1024

/** Sends a call with the headers that say which trace it belongs to. */
export type TraceCall = <Result>(
  call: { readonly method: string; readonly origin: string },
  send: (headers: Readonly<Record<string, string>>) => Promise<Result>,
) => Promise<Result>

const untraced: TraceCall = (_call, send) => send({})

export interface ProverClientOptions {
  /** Such as `https://sp.example`; nothing else is ever called. */
  readonly origin: string
  readonly bearer?: { reveal(): string }
  readonly times: ExchangeTimes
  readonly breaker: CircuitBreaker
  /** Aborted when the driver is closed. */
  readonly closing: AbortSignal
  /** @default without a trace */
  readonly trace?: TraceCall
}

/** What one call of a driver asks. */
export interface Question {
  readonly method: ExchangeRequest['method']
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** A value to be sent as JSON. */
  readonly json?: unknown
  readonly bytes?: Extract<ExchangeRequest['body'], object>
  readonly signal?: AbortSignal
  /** In place of the times that the driver has. */
  readonly times?: Partial<ExchangeTimes>
}

/** Asks one prover, as long as it is worth while. */
export class ProverClient {
  readonly origin: string
  readonly #options: ProverClientOptions

  constructor(options: ProverClientOptions) {
    this.origin = options.origin
    this.#options = options
  }

  /**
   * Asks, and reads the answer if it has the expected status.
   *
   * @param read - reads it; throws what makes the call fail.
   * @param otherwise - reads an answer of another status; undefined makes the call fail with it.
   * @throws {LadeError} `stage_failed`; the reason of the signal; what the chunks throw.
   */
  ask<Result>(
    question: Question,
    expected: ExchangeRequest['expected'],
    read: (answer: ExchangeAnswer) => Result,
    otherwise: (answer: ExchangeAnswer) => Result | undefined = () => undefined,
  ): Promise<Result> {
    const { breaker } = this.#options
    return breaker.run(async () => {
      const answer = await this.#exchange(question, expected)
      if (answer.status === expected.status) return read(answer)
      const other = otherwise(answer)
      if (other === undefined) throw refusalOf(answer, answer.body)
      return other
    })
  }

  /** Asks for JSON of this schema. */
  askJson<Schema extends z.ZodType>(
    question: Question,
    schema: Schema,
    { maxBytes = MAX_JSON_BYTES, otherwise }: AskJsonOptions<z.output<Schema>> = {},
  ): Promise<z.output<Schema>> {
    return this.ask(question, { status: 200, maxBytes }, ({ body }) => parse(schema, body), otherwise)
  }

  async #exchange({ json, bytes, times, ...question }: Question, expected: ExchangeRequest['expected']) {
    const { bearer, closing, trace = untraced, ...options } = this.#options
    const signal = question.signal === undefined ? closing : AbortSignal.any([question.signal, closing])
    const body = json === undefined ? bytes : JSON.stringify(json)
    const headers = { ...(bearer && { authorization: `Bearer ${bearer.reveal()}` }), ...question.headers }
    try {
      return await trace({ method: question.method, origin: this.origin }, (traceHeaders) =>
        exchange(this.origin, {
          ...question,
          headers: { ...headers, ...traceHeaders },
          ...(body !== undefined && { body }),
          expected,
          times: { ...options.times, ...times },
          signal,
        }),
      )
    } catch (error) {
      // Whoever waits for it knows nothing of the end of the driver.
      if (closing.aborted && question.signal?.aborted !== true) throw unusable('The service ends.')
      throw error
    }
  }
}

export interface AskJsonOptions<Result> {
  /** @default 1 MiB */
  readonly maxBytes?: number
  readonly otherwise?: (answer: ExchangeAnswer) => Result | undefined
}

/** Answers that say all there is to say by their status. */
export function statusOnly(status: number): ExchangeRequest['expected'] {
  return { status, maxBytes: MAX_TEXT_BYTES }
}

/**
 * The part of a `Location` that a pattern captures. The address has to be on the origin that was asked; it is the path alone that counts.
 *
 * @throws {LadeError} `stage_failed` for any other.
 */
export function readLocation(answer: ExchangeAnswer, origin: string, pattern: RegExp): string {
  const url = URL.parse(answer.headers.location ?? '', origin)
  const hasUser = url !== null && (url.username !== '' || url.password !== '')
  const found = url?.origin === origin && !hasUser ? pattern.exec(url.pathname)?.[1] : undefined
  if (found === undefined || answer.headers.location === undefined) {
    throw unusable('Its Location header is invalid.')
  }
  return found
}

function parse<Schema extends z.ZodType>(schema: Schema, body: Buffer): z.output<Schema> {
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw unusable('Its response is not JSON.', { cause })
  }
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw unusable(`Its response has an unexpected form: ${issue?.path.join('.') || 'the whole'}.`)
}
