import { setTimeout as sleep } from 'node:timers/promises'
import type { S3Operation } from './s3-request.ts'

/** A refusal that is injected. */
export interface FakeFailure {
  readonly status: number
  readonly code: string
  readonly retryAfterSeconds?: number
  /** True to answer with a page, as a proxy in front of a store does. @default false */
  readonly asHtml?: boolean
  /** Which requests it is for. @default all */
  readonly on?: S3Operation | undefined
}

/** How the bytes of a GET are wrong. `swap` answers with the bytes of another object of this length, `long` says more than there is. */
export type Corruption = 'flip' | 'truncate' | 'swap' | 'long' | 'ignore-range'

interface Planned<Plan> {
  plan: Plan
  times: number
  on: S3Operation | undefined
}

/** The switches by which a fake store is made to misbehave. Every plan is for the next requests that it fits. */
export class FakeFaults {
  /** `refused` cuts every connection, `unavailable` answers 503, `silent` never answers. */
  outage: 'off' | 'refused' | 'unavailable' | 'silent' = 'off'
  /** The share of requests, from 0 to 1, that are answered 503 SlowDown. */
  slowDownRate = 0
  /** Where the decisions of `slowDownRate` come from. */
  random: () => number = Math.random

  readonly #failures: Planned<FakeFailure>[] = []
  readonly #cuts: Planned<number>[] = []
  readonly #delays: Planned<() => Promise<unknown>>[] = []
  readonly #corruptions: Planned<Corruption>[] = []
  readonly #droppedAnswers: Planned<true>[] = []
  readonly #errorsIn200: Planned<string>[] = []
  readonly #losses: Planned<true>[] = []
  readonly #damages: Planned<true>[] = []
  readonly #staleLengths: Planned<true>[] = []

  /** Answers with an error and does nothing. */
  failNext(times: number, failure: FakeFailure): void {
    this.#failures.push({ plan: failure, times, on: failure.on })
  }

  /** Cuts the connection of a GET after so many bytes of its body. */
  cutNextGet(afterBytes: number, times = 1): void {
    this.#cuts.push({ plan: afterBytes, times, on: 'GetObject' })
  }

  /** Waits before it does anything. */
  delayNext(ms: number, options: { times?: number; on?: S3Operation } = {}): void {
    this.#delays.push({ plan: () => sleep(ms), times: options.times ?? 1, on: options.on })
  }

  /** Waits for something else to happen before it does anything. */
  holdNext(on: S3Operation, until: Promise<unknown>): void {
    this.#delays.push({ plan: () => until, times: 1, on })
  }

  /** Answers a GET with other bytes than the stored ones. */
  corruptNextGet(corruption: Corruption, times = 1): void {
    this.#corruptions.push({ plan: corruption, times, on: 'GetObject' })
  }

  /** Does what is asked for and cuts the connection instead of answering. */
  dropNextAnswer(on: S3Operation, times = 1): void {
    this.#droppedAnswers.push({ plan: true, times, on })
  }

  /** Answers 200 with an error as its body, and does nothing. */
  failNextWith200(
    on: 'CompleteMultipartUpload' | 'CopyObject' | 'UploadPartCopy',
    code = 'InternalError',
    times = 1,
  ): void {
    this.#errorsIn200.push({ plan: code, times, on })
  }

  /** Answers as if it had stored an object, and has not. */
  loseNext(on: 'PutObject' | 'CompleteMultipartUpload' | 'CopyObject', times = 1): void {
    this.#losses.push({ plan: true, times, on })
  }

  /** Checks what it was sent, stores it with a bit flipped, and answers with the ETag of what it stored. */
  damageNext(on: 'PutObject' | 'UploadPart', times = 1): void {
    this.#damages.push({ plan: true, times, on })
  }

  /** Says another length of an object than it has, as a store does that answers from what it knew before. */
  staleNextHead(times = 1): void {
    this.#staleLengths.push({ plan: true, times, on: 'HeadObject' })
  }

  /** Takes back every plan, and ends the outage. */
  clear(): void {
    for (const list of [this.#failures, this.#cuts, this.#delays, this.#corruptions, this.#droppedAnswers])
      list.length = 0
    this.#errorsIn200.length = 0
    this.#losses.length = 0
    this.#damages.length = 0
    this.#staleLengths.length = 0
    this.outage = 'off'
    this.slowDownRate = 0
  }

  /** What is to happen to a request of this kind; takes it off the plans. */
  meet(operation: S3Operation | undefined): MetFaults {
    const isSlow = this.slowDownRate > 0 && this.random() < this.slowDownRate
    const slowDown: FakeFailure | undefined = isSlow ? { status: 503, code: 'SlowDown' } : undefined
    return {
      delay: taken(this.#delays, operation),
      failure: slowDown ?? taken(this.#failures, operation),
      codeIn200: taken(this.#errorsIn200, operation),
      isLost: taken(this.#losses, operation) ?? false,
      isDamaged: taken(this.#damages, operation) ?? false,
      isStale: taken(this.#staleLengths, operation) ?? false,
      dropsAnswer: taken(this.#droppedAnswers, operation) ?? false,
      cutAfterBytes: taken(this.#cuts, operation),
      corruption: taken(this.#corruptions, operation),
    }
  }
}

/** What one request meets. */
export interface MetFaults {
  readonly delay: (() => Promise<unknown>) | undefined
  readonly failure: FakeFailure | undefined
  readonly codeIn200: string | undefined
  readonly isLost: boolean
  readonly isDamaged: boolean
  readonly isStale: boolean
  readonly dropsAnswer: boolean
  readonly cutAfterBytes: number | undefined
  readonly corruption: Corruption | undefined
}

function taken<Plan>(plans: Planned<Plan>[], operation: S3Operation | undefined): Plan | undefined {
  const index = plans.findIndex(({ on }) => on === undefined || on === operation)
  const found = plans[index]
  if (found === undefined) return undefined
  found.times -= 1
  if (found.times <= 0) plans.splice(index, 1)
  return found.plan
}
