import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockAnswer, BlockQuestion } from '@lade/core/dag'
import { FairQueue } from '@lade/node/budget/fair-queue'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import type { CID } from 'multiformats/cid'
import { answerCache } from './answer-cache.ts'
import { LoopTurns } from './loop-turns.ts'
import { ReadingThread } from './reading-thread.ts'

/** Big blocks that are in memory at once, and for how long at the most before others follow. */
const BIG_BLOCKS = 16
const MAX_HELD_MS = 1000
/** Blocks of one principal that may wait to be read. */
const MAX_WAITING = 256

/** A block whose links are to be read. */
export interface ReadingRequest<Question extends BlockQuestion> {
  readonly cid: CID
  readonly question: Question
  /** Loads the block, when its turn has come. */
  readonly load: () => Promise<Uint8Array>
  /** Who pays. */
  readonly principal: string
  readonly signal: AbortSignal | undefined
}

/** A block that was read. */
export interface BlockReading<Question extends BlockQuestion> {
  readonly answer: BlockAnswer<Question>
  /** The block, where it had to be loaded for this. */
  readonly bytes: Uint8Array | undefined
  /** What reading it cost the thread; 0 when somebody else has paid. */
  readonly processorMs: number
}

/**
 * Reads blocks on a thread beside the event loop, for all requests.
 *
 * One block is loaded and read at a time, those of the principal first that has used the least processor time lately. What was read is
 * kept, up to 32 MiB, so that a block is read once, however many ask: a CID never comes to mean other links.
 */
export class BlockReadings {
  /** Where walks share the event loop. */
  readonly turns: LoopTurns
  readonly #queue: FairQueue
  readonly #inMemory: FairQueue
  readonly #recent = answerCache()
  readonly #running = new Map<string, Promise<unknown>>()
  #thread: ReadingThread | undefined
  #readCount = 0

  constructor(budget: WorkBudget) {
    this.turns = new LoopTurns(budget)
    this.#inMemory = new FairQueue({ work: 'links', budget, slots: BIG_BLOCKS })
    this.#queue = new FairQueue({ work: 'links', budget, slots: 1, waitingPerPrincipal: MAX_WAITING })
  }

  /** How many blocks the thread has read. */
  get readCount(): number {
    return this.#readCount
  }

  /**
   * The answer to a question about a block.
   *
   * @throws {LadeError} `over_budget` when too many blocks of the principal wait already.
   * @throws what `load` throws, and the reason of an aborted signal.
   */
  async read<Question extends BlockQuestion>(request: ReadingRequest<Question>): Promise<BlockReading<Question>> {
    const { cid, question, signal } = request
    const key = keyOf(cid, question)
    while (true) {
      signal?.throwIfAborted()
      const answer = this.#recent.get(key)
      // The key says what was asked.
      if (answer !== undefined) return { answer: answer as BlockAnswer<Question>, bytes: undefined, processorMs: 0 }
      const running = this.#running.get(key)
      if (running === undefined) break
      await running.catch(() => {})
    }
    const reading = this.#readNew(key, request)
    this.#running.set(key, reading)
    try {
      return await reading
    } finally {
      this.#running.delete(key)
    }
  }

  /**
   * Resolves when there is memory for one more big block with links, to a function that gives it back. After a second it is given back in any case,
   * since a reader that does not read must not hold up others.
   */
  hold(principal: string, signal: AbortSignal | undefined): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const held = async (): Promise<void> => {
        const released = new AbortController()
        resolve(() => released.abort())
        await sleep(MAX_HELD_MS, undefined, { signal: released.signal, ref: false }).catch(() => {})
      }
      this.#inMemory.run(principal, held, signal).catch(reject)
    })
  }

  /** Ends the thread. Blocks that are being read fail, and so do later ones. */
  async close(): Promise<void> {
    await this.#thread?.close()
  }

  #readNew<Question extends BlockQuestion>(
    key: string,
    { cid, question, load, principal, signal }: ReadingRequest<Question>,
  ): Promise<BlockReading<Question>> {
    return this.#queue.run(
      principal,
      async () => {
        const bytes = await load()
        if (this.#thread === undefined || this.#thread.hasEnded) this.#thread = new ReadingThread()
        const { answer, processorMs } = await this.#thread.read({ question, codec: cid.code, bytes })
        this.#readCount += 1
        this.#recent.set(key, answer)
        return { answer: answer as BlockAnswer<Question>, bytes, processorMs }
      },
      signal,
    )
  }
}

function keyOf({ code, multihash }: CID, question: BlockQuestion): string {
  const name = `${question.ask} ${code} ${Buffer.from(multihash.bytes).toString('base64')}`
  return question.ask === 'step' ? `${name} ${JSON.stringify(question.segments)}` : name
}
