import { setMaxListeners } from 'node:events'
import type { Readable } from 'node:stream'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { Retries } from './retries.ts'
import { S3Failure } from './s3-failure.ts'
import { type S3BlobStoreOptions, type S3Settings, settingsOf } from './s3-options.ts'
import { failureOf } from './sdk-error.ts'

/** Copying or completing a big object takes a store longer than answering, and it may say nothing meanwhile. */
const SLOW_CALL_FACTOR = 6

/** What a store turned out to understand; each goes from true to false once, and stays. */
export interface S3Habits {
  /** `If-None-Match: *` on a put. */
  readonly conditionalPuts: boolean
  /** `x-amz-checksum-sha256` and `x-amz-checksum-algorithm`. */
  readonly checksums: boolean
  /** An ETag that is the MD5 of what was put. It is none with keys of a key service, and in directory buckets. */
  readonly md5Etags: boolean
}

export interface CallOptions {
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined
  /** Which connections carry it. @default 'requests' */
  readonly pool?: S3Pool
}

/**
 * Calls that wait for different things do not wait for each other's connections: `bodies` last as long as their readers
 * take, `copies` as long as the store thinks, and neither may keep a `request` from being sent.
 */
export type S3Pool = 'requests' | 'copies' | 'bodies'

/**
 * The connection to one store: every request goes through here, is tried again by one set of rules, and ends with `close`.
 *
 * The SDK signs, sends and parses. It does not retry: of two layers that do, the outer one multiplies the inner one.
 */
export class S3Calls {
  readonly settings: S3Settings
  readonly retries: Retries
  /** For presigning, which sends nothing. */
  readonly client: S3Client
  readonly #clients: Readonly<Record<S3Pool, S3Client>>
  readonly #onTrait: (sentence: string) => void
  readonly #running = new Map<AbortController, Promise<unknown>>()
  readonly #streams = new Set<Readable>()
  readonly #closing = new AbortController()
  #habits: S3Habits = { conditionalPuts: true, checksums: true, md5Etags: true }

  constructor(options: S3BlobStoreOptions) {
    this.settings = settingsOf(options)
    setMaxListeners(0, this.closing)
    this.retries = new Retries(this.settings.retry, Math.random, options.onRetry)
    this.#onTrait = options.onTrait ?? (() => {})
    this.client = new S3Client(configOf(options, 1))
    // The same credentials, so that a role of the machine is asked for once.
    const { credentials } = this.client.config
    this.#clients = {
      requests: this.client,
      copies: new S3Client({ ...configOf(options, SLOW_CALL_FACTOR), credentials }),
      bodies: new S3Client({ ...configOf(options, 1), credentials }),
    }
  }

  /** Aborts when this connection ends. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  get habits(): S3Habits {
    return this.#habits
  }

  /** Notes what the store does not know, and says so the first time. */
  unlearn(habit: keyof S3Habits, sentence: string): void {
    if (!this.#habits[habit]) return
    this.#habits = { ...this.#habits, [habit]: false }
    this.#onTrait(sentence)
  }

  /**
   * Runs `attempt` until it succeeds or trying again is of no use.
   *
   * @throws {S3Failure} always of that kind, whatever the SDK throws.
   */
  run<T>(
    operation: string,
    attempt: (client: S3Client, options: { abortSignal: AbortSignal }) => Promise<T>,
    { signal, pool = 'requests' }: CallOptions = {},
  ): Promise<T> {
    const call = new AbortController()
    setMaxListeners(0, call.signal)
    const stop = () => call.abort()
    if (this.closing.aborted || signal?.aborted === true) stop()
    signal?.addEventListener('abort', stop, { once: true })
    const client = this.#clients[pool]
    const running = this.retries
      .run(call.signal, async () => {
        if (call.signal.aborted) throw new S3Failure(operation, { kind: 'permanent', code: 'Aborted' })
        return attempt(client, { abortSignal: call.signal }).catch((error: unknown) => {
          const isAborted = call.signal.aborted
          throw isAborted
            ? new S3Failure(operation, { kind: 'permanent', code: 'Aborted' })
            : failureOf(operation, error)
        })
      })
      .finally(() => {
        signal?.removeEventListener('abort', stop)
        this.#running.delete(call)
      })
    this.#running.set(call, running)
    return running
  }

  /** Lets a body of an answer end with this connection. */
  watch(stream: Readable): void {
    this.#streams.add(stream)
    stream.once('close', () => this.#streams.delete(stream))
    // A stream that nobody reads at the moment may fail; who reads it next is told.
    stream.on('error', () => {})
    if (this.closing.aborted) stream.destroy()
  }

  /** Ends what is under way, and resolves when nothing is. Safe to call twice. */
  async close(): Promise<void> {
    this.#closing.abort()
    const running = [...this.#running]
    for (const [call] of running) call.abort()
    for (const stream of this.#streams) stream.destroy()
    await Promise.allSettled(running.map(([, call]) => call))
    for (const client of Object.values(this.#clients)) client.destroy()
  }
}

/** What stores that are not Amazon's take for a region when none is named; it is a part of what is signed. */
const REGION_OF_OTHERS = 'us-east-1'

function configOf(options: S3BlobStoreOptions, timeoutFactor: number): S3ClientConfig {
  const { endpoint, credentials, requestHandler, maxSockets = 64, sdkChecksums = 'WHEN_REQUIRED' } = options
  const region = options.region ?? (endpoint === undefined ? undefined : REGION_OF_OTHERS)
  const agent = { keepAlive: true, maxSockets }
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
    forcePathStyle: options.pathStyle ?? endpoint !== undefined,
    maxAttempts: 1,
    requestChecksumCalculation: sdkChecksums,
    responseChecksumValidation: sdkChecksums,
    // A part is small enough to be sent and refused; waiting for leave costs each of them a round trip.
    expectContinueHeader: false,
    requestHandler: requestHandler ?? {
      connectionTimeout: options.connectMs ?? 3_000,
      socketTimeout: (options.silenceMs ?? 10_000) * timeoutFactor,
      httpAgent: agent,
      httpsAgent: agent,
    },
  }
}
