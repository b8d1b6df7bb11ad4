import { LadeError } from '@lade/core/errors'

/**
 * When a request is sent again: after a connection that failed, and after the statuses 408, 425, 429, 500, 502, 503 and 504.
 * Every request is one that may be sent twice, but for signups, the steps of a sign-in, extensions of deals and challenges,
 * which are sent again only when they were refused. A wallet signs each attempt anew.
 */
export interface RetryPolicy {
  /** How often a request is sent at most, 1 to send it once. @default 5 */
  readonly attempts: number
  /**
   * The same while the service has not answered this client yet, so that a wrong address or a service that does not run is told soon.
   * A proxy that says with 502, 503 or 504 that the service is away is no answer of it. @default `attempts`
   */
  readonly firstContactAttempts: number
  /**
   * How long all the waits of a request may take together. What `Retry-After` asks for counts; when that is more than what
   * is left, the request fails at once. A download that gets on has all of it again. @default 60
   */
  readonly budgetSeconds: number
  /** The first wait at most; each one after it up to twice as long, half of it by chance. @default 250 */
  readonly baseDelayMs: number
  /** The longest wait, apart from what `Retry-After` asks for. @default 10_000 */
  readonly maxDelayMs: number
}

export const DEFAULT_RETRY: Omit<RetryPolicy, 'firstContactAttempts'> = {
  attempts: 5,
  budgetSeconds: 60,
  baseDelayMs: 250,
  maxDelayMs: 10_000,
}

/** What may go better the next time. */
const PASSING = [408, 425, 429, 500, 502, 503, 504]
/** What a proxy says while the service behind it is away. */
const AWAY = [502, 503, 504]
/** What refuses a request before anything is done. */
const REFUSED = [429, 503]

/** The policy with its defaults. @throws {TypeError} for a value that makes no sense. */
export function retryPolicy(changes: Partial<RetryPolicy> = {}): RetryPolicy {
  const { attempts = DEFAULT_RETRY.attempts } = changes
  const policy = { ...DEFAULT_RETRY, firstContactAttempts: attempts, ...changes }
  for (const [name, value] of Object.entries(policy)) {
    if (!Number.isFinite(value) || value < 0)
      throw new TypeError(`retry.${name} is ${value}, but it must be a finite number of 0 or more`)
  }
  for (const name of ['attempts', 'firstContactAttempts'] as const) {
    if (!Number.isInteger(policy[name]) || policy[name] < 1)
      throw new TypeError(`retry.${name} is ${policy[name]}, but it must be a whole number of 1 or more`)
  }
  return policy
}

/** A request that failed, and is sent again after a wait. */
export interface RequestRetry {
  readonly error: LadeError
  /** The length of the wait. */
  readonly delayMs: number
}

/** One attempt that failed. */
export interface Failure {
  readonly error: LadeError
  /** Undefined when there was no answer. */
  readonly status: number | undefined
  /** What the answer asked for. */
  readonly retryAfterMs: number | undefined
}

/** True when the same request may succeed later. `mayRepeat` is false for one that must not be done twice. */
export function isWorthRetrying({ error, status }: Failure, mayRepeat: boolean): boolean {
  if (status === undefined) return mayRepeat && error.code === 'unreachable'
  // Its Retry-After is the end of the day, and a prover that says no when it comes again is one that cannot be reached.
  if (error.code === 'quota_exceeded') return false
  // Somebody waits for the mail, who should know at once that none comes.
  if (error.code === 'mail_failed') return false
  if (LadeError.has(error, 'stage_failed') && error.evidence.retryAfterSeconds === undefined) return false
  return (mayRepeat ? PASSING : REFUSED).includes(status)
}

/** Whether the service of a client has answered it. */
export class Contact {
  #hasAnswered = false

  get hasAnswered(): boolean {
    return this.#hasAnswered
  }

  /** Notes a response. One that a proxy may have given in place of the service changes nothing. */
  note(status: number): void {
    if (!AWAY.includes(status)) this.#hasAnswered = true
  }
}

export interface WaitsOptions {
  /** @default one that has answered */
  readonly contact?: Pick<Contact, 'hasAnswered'>
  readonly random?: () => number
}

/** The waits of one request: how long before the next attempt, until attempts or budget are spent. */
export class Waits {
  readonly #policy: RetryPolicy
  readonly #contact: Pick<Contact, 'hasAnswered'>
  readonly #random: () => number
  #failures = 0
  #waitedMs = 0

  constructor(policy: RetryPolicy, { contact = { hasAnswered: true }, random = Math.random }: WaitsOptions = {}) {
    this.#policy = policy
    this.#contact = contact
    this.#random = random
  }

  /** Milliseconds to wait now; undefined when there is to be no other attempt. */
  next(retryAfterMs: number | undefined): number | undefined {
    const { firstContactAttempts, budgetSeconds, baseDelayMs, maxDelayMs } = this.#policy
    const attempts = this.#contact.hasAnswered ? this.#policy.attempts : firstContactAttempts
    this.#failures += 1
    const ceilingMs = Math.min(maxDelayMs, baseDelayMs * 2 ** (this.#failures - 1))
    const delayMs = retryAfterMs ?? ceilingMs * (0.5 + this.#random() / 2)
    if (this.#failures >= attempts || this.#waitedMs + delayMs > budgetSeconds * 1000) return undefined
    this.#waitedMs += delayMs
    return delayMs
  }

  /** Something was achieved: all attempts and the whole budget are there again. */
  renew(): void {
    this.#failures = 0
    this.#waitedMs = 0
  }
}

const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), /

/** What a `Retry-After` header asks for: seconds or a date (RFC 9110 section 10.2.3); undefined for anything else. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  // Date.parse takes much for a date that is none.
  const at = HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** Resolves after `delayMs`, or rejects with the reason of the signal. */
export function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const giveUp = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', giveUp)
      resolve()
    }, delayMs)
    signal?.addEventListener('abort', giveUp, { once: true })
  })
}
