import { randomBytes as secureRandomBytes } from 'node:crypto'
import type { DealProposer } from '../onchain-deals/deal-proposer.ts'
import { aggregateWaiting } from './aggregate.ts'
import { enrolFiles } from './enrol.ts'
import { makeCar } from './make-car.ts'
import type { PlacementContext } from './placement-context.ts'
import { PlacementQueues, ROUND_BATCH } from './placement-queues.ts'
import { DEFAULT_SCHEDULE, type PlacementSchedule } from './placement-schedule.ts'
import { detachRemovedProvers, reconcilePieces } from './reconcile.ts'
import { TaskQueue } from './task-queue.ts'

const AGGREGATE_TARGET_BYTES = 64 * 1024 * 1024
/** The pause between two rounds of the proposer, unless it asks for another. */
const PROPOSE_AGAIN_MS = 1000

/** What the job hands to each of its terms. */
export interface PlacementTermOptions
  extends Omit<PlacementContext, 'aggregateTargetBytes' | 'ipfsCopies' | 'randomBytes' | 'schedule' | 'signal'> {
  /** @default 0 */
  readonly ipfsCopies?: number
  /** @default 64 MiB, padded */
  readonly aggregateTargetBytes?: number
  /** @default randomBytes of node:crypto */
  readonly randomBytes?: (sizeBytes: number) => Uint8Array
  /** @default about an hour of retries; see `PlacementSchedule` */
  readonly schedule?: Partial<PlacementSchedule>
  /** Proposes deals in the same process that places files. @default nobody */
  readonly proposer?: Pick<DealProposer, 'round'>
  /** Called after each task that succeeded: more may be due now. */
  readonly onProgress: () => void
  /** Called when something fails; it is tried again. */
  readonly onFailure: (error: unknown, message: string) => void
}

/** The time from taking the lease to losing it, with everything that this process does meanwhile. */
export class PlacementTerm {
  readonly #options: PlacementTermOptions
  readonly #context: PlacementContext
  readonly #queues: PlacementQueues
  readonly #proposing: TaskQueue
  readonly #packing: TaskQueue
  readonly #ending = new AbortController()
  #hasDetached = false
  /** By the monotonic clock. */
  #proposeAt = 0

  constructor(options: PlacementTermOptions) {
    this.#options = options
    this.#context = {
      ...options,
      ipfsCopies: options.ipfsCopies ?? 0,
      aggregateTargetBytes: options.aggregateTargetBytes ?? AGGREGATE_TARGET_BYTES,
      randomBytes: options.randomBytes ?? secureRandomBytes,
      schedule: { ...DEFAULT_SCHEDULE, ...options.schedule },
      signal: this.#ending.signal,
    }
    this.#queues = new PlacementQueues(this.#context, (error) => {
      // A copy that was just stored may need a deal.
      this.#proposeAt = Math.min(this.#proposeAt, performance.now() + PROPOSE_AGAIN_MS)
      this.#taskDone(error)
    })
    this.#proposing = new TaskQueue(1, (error) => this.#taskDone(error))
    this.#packing = new TaskQueue(1, (error) => this.#taskDone(error))
  }

  /** True while provers are asked, or have not confirmed yet what they were asked for. */
  get isUnderWay(): boolean {
    return this.#queues.isUnderWay
  }

  /** Time until the proposer is due; undefined without one, and while it runs, because its end is progress. */
  get untilProposingMs(): number | undefined {
    if (this.#options.proposer === undefined || !this.#proposing.isIdle) return undefined
    return this.#proposeAt - performance.now()
  }

  /** Starts everything that is due; what takes long continues after this. Resolves to whether there was anything. */
  async start(): Promise<boolean> {
    const context = this.#context
    if (!this.#hasDetached) await this.#step(() => this.#detach())
    // As many of each, so that no file is begun long before it can go on. On SQLite, uploads wait 2 to 3 ms for the transaction that enrols them.
    const steps = [
      async () => (await enrolFiles(context, ROUND_BATCH)) > 0,
      () => aggregateWaiting(context),
      async () => (await reconcilePieces(context, ROUND_BATCH)) > 0,
      () => this.#queues.start(),
    ]
    let isBusy = false
    for (const step of steps) isBusy = (await this.#step(step)) || isBusy
    this.#propose()
    isBusy = (await this.#step(() => this.#pack())) || isBusy
    return isBusy
  }

  /** Resolves when no task runs or waits. */
  async whenIdle(): Promise<void> {
    await Promise.all([this.#queues.whenIdle(), this.#proposing.whenIdle(), this.#packing.whenIdle()])
  }

  /** Makes running tasks give up soon. */
  abort(reason: unknown): void {
    this.#ending.abort(reason)
  }

  /** Drops the tasks that wait, aborts those that run, and resolves when they have ended. */
  async end(reason: Error): Promise<void> {
    this.abort(reason)
    this.#queues.dismiss()
    await this.whenIdle()
  }

  /** The provers of the settings may have changed since the last term. */
  async #detach(): Promise<boolean> {
    const { records, now } = this.#context
    await detachRemovedProvers(this.#context)
    await records.placements.markAllUnreconciled({ now: now() })
    this.#hasDetached = true
    return true
  }

  /** The steps after one that fails are taken all the same. */
  async #step(action: () => Promise<boolean>): Promise<boolean> {
    try {
      return await action()
    } catch (error) {
      this.#options.onFailure(error, 'a step of placement failed')
      return false
    }
  }

  /** Computing the CAR of a big file takes long, so that it goes on beside the rounds. */
  async #pack(): Promise<boolean> {
    const { ipfsCopies, records } = this.#context
    if (ipfsCopies === 0 || !this.#packing.isIdle) return false
    if ((await records.placements.carCandidates({ limit: 1 })).length === 0) return false
    this.#packing.offer('car', async () => void (await makeCar(this.#context)))
    return true
  }

  #propose(): void {
    const { proposer } = this.#options
    if (proposer === undefined || performance.now() < this.#proposeAt) return
    this.#proposing.offer('proposer', async () => {
      this.#proposeAt = performance.now() + PROPOSE_AGAIN_MS
      const { nextInMs } = await proposer.round()
      this.#proposeAt = performance.now() + nextInMs
    })
  }

  #taskDone(error: unknown): void {
    const { onProgress, onFailure } = this.#options
    if (error === undefined || this.#ending.signal.aborted) onProgress()
    else onFailure(error, 'a piece could not be placed')
  }
}
