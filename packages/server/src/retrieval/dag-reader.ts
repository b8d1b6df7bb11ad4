import { MAX_BLOCK_BYTES } from '@lade/core/content'
import {
  type AnsweredBlock,
  answerOf,
  type Block,
  type BlockAnswer,
  type BlockQuestion,
  type BlockReader,
  DagReadError,
  MAX_BLOCKS,
  MAX_LINKS,
} from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { measuredResult } from '@lade/node/budget/measured'
import { PAID_MS_PER_BYTE, type WorkBudget } from '@lade/node/budget/work-budget'
import { blockHashWeight } from '@lade/node/hashing/block-hash'
import type { CID } from 'multiformats/cid'
import type { BlockReadings } from './block-readings.ts'
import type { BlockSource, FoundBlock } from './block-source.ts'

/** Blocks up to this size are read in place, within half a millisecond; dag-json takes four times as long. */
const SMALL_BYTES = 4096
const SMALL_JSON_BYTES = 1024
const NO_BYTES = new Uint8Array()
const DAG_PB = 0x70
const DAG_CBOR = 0x71
const DAG_JSON = 0x0129

/** Of bigger blocks with links, only a few are in memory at once. */
const BIG_BYTES = 65_536

/** What the event loop is held up by finding, reading and checking a block, and by coming to a link, as measured. */
const BLOCK_MS = 0.05
const LINK_MS = 0.002
/** A block is hashed twice, as a part of what is stored and by itself. */
const READ_MS_PER_BYTE = 4 / (1024 * 1024)
/** Work is charged in portions of about this. */
const CHARGED_MS = 250
/** What one request may cost more than its bytes pay for. Reading the most and smallest blocks that a CAR can have costs less than half of this. */
const MAX_UNPAID_MS = 60_000

export interface DagReaderDeps {
  readonly source: BlockSource
  readonly readings: BlockReadings
  readonly budget: WorkBudget
  /** Who pays. */
  readonly principal: string
  /** Aborted when nobody waits any more. */
  readonly signal?: AbortSignal | undefined
  /** False where no block is sent: one whose answer is known is then not read again, and has no bytes. @default true */
  readonly isSent?: boolean
  /** Blocks that may be read, each time that they are. @default 262_144, as many as a CAR may have */
  readonly maxBlocks?: number
  /** Links that these may have in all. @default 2^20, as many as in a CAR */
  readonly maxLinks?: number
  /** Processor time that the request may cost beyond what the bytes sent pay for, in milliseconds. @default 60_000 */
  readonly maxUnpaidMs?: number
}

/**
 * Finds and reads the blocks of one request, and holds the request to its limits: as many blocks and links as a CAR may have, those that are
 * walked again among them, and a minute of processor time beyond what the bytes sent pay for.
 *
 * Big blocks are read on a thread, and the event loop is given up every few milliseconds. All work is charged to the reader's principal;
 * one that is over its budget goes on slowly. For one walk at a time; `settle` in the end.
 */
export class DagReader implements BlockReader {
  #release: (() => void) | undefined
  readonly #deps: Required<Omit<DagReaderDeps, 'signal'>> & Pick<DagReaderDeps, 'signal'>
  #blocks = 0
  #links = 0
  #processorMs = 0
  #movedBytes = 0
  #unpaidMs = 0
  #isSlowed = false

  constructor(deps: DagReaderDeps) {
    this.#deps = { isSent: true, maxBlocks: MAX_BLOCKS, maxLinks: MAX_LINKS, maxUnpaidMs: MAX_UNPAID_MS, ...deps }
  }

  /** @throws {LadeError} `not_acceptable` beyond the limits, `over_budget`, `storage_failed`, `storage_offline`. */
  async load(cid: CID): Promise<Block> {
    return { cid, bytes: await this.#load(await this.#find(cid)) }
  }

  /** @throws {LadeError} as `load`. */
  async read<Question extends BlockQuestion>(cid: CID, question: Question): Promise<AnsweredBlock<Question>> {
    const found = await this.#find(cid)
    const { bytes, answer } = isSmall(found, question)
      ? await this.#readHere(found, question)
      : await this.#readOnThread(found, question)
    this.#count(linksIn(answer))
    return { block: { cid, bytes }, answer }
  }

  follow(): Promise<void> | undefined {
    return this.#work(LINK_MS)
  }

  /** Notes that bytes were sent for this request; they pay for their share of the work. */
  moved(sizeBytes: number): void {
    this.#movedBytes += sizeBytes
  }

  /** Does work on the event loop for this request, which pays for it. */
  async measure<Result>(work: () => Result): Promise<Result> {
    const { result, processorMs } = measuredResult(work)
    await this.#work(processorMs)
    return result
  }

  /** Charges what has not been charged yet, and lets go of the last block. */
  settle(): void {
    this.#release?.()
    this.#charge()
  }

  #charge(): void {
    const { budget, principal } = this.#deps
    this.#unpaidMs = Math.max(0, this.#unpaidMs + this.#processorMs - this.#movedBytes * PAID_MS_PER_BYTE)
    budget.spend({ principal, work: 'links', processorMs: this.#processorMs, movedBytes: this.#movedBytes })
    this.#processorMs = 0
    this.#movedBytes = 0
  }

  async #find(cid: CID): Promise<FoundBlock> {
    const { maxBlocks } = this.#deps
    // Whoever asks for the next block is done with the one before.
    this.#release?.()
    this.#release = undefined
    this.#blocks += 1
    if (this.#blocks > maxBlocks) throw tooMuch(`${maxBlocks} blocks`)
    await this.#work(cid.multihash.code === 0 ? LINK_MS : BLOCK_MS)
    const found = await this.#deps.source.find(cid)
    if (found === undefined || found.sizeBytes > MAX_BLOCK_BYTES) throw new DagReadError('missing', cid)
    return found
  }

  async #load(found: FoundBlock): Promise<Uint8Array> {
    const { code } = found.cid.multihash
    await this.#work(found.sizeBytes * READ_MS_PER_BYTE * blockHashWeight(code))
    return this.#deps.source.read(found)
  }

  async #readHere<Question extends BlockQuestion>(found: FoundBlock, question: Question) {
    const bytes = await this.#load(found)
    const { result, processorMs } = measuredResult(() => answerOf(question, found.cid.code, bytes))
    await this.#work(processorMs)
    return { bytes, answer: result }
  }

  async #readOnThread<Question extends BlockQuestion>(found: FoundBlock, question: Question) {
    const { readings, principal, signal, isSent } = this.#deps
    const load = () => this.#load(found)
    if (found.sizeBytes > BIG_BYTES) this.#release = await readings.hold(principal, signal)
    const reading = await readings.read({ cid: found.cid, question, load, principal, signal })
    this.#processorMs += reading.processorMs
    this.#chargePortion()
    const bytes = reading.bytes ?? (isSent ? await load() : NO_BYTES)
    return { bytes, answer: reading.answer }
  }

  #count(links: number): void {
    const { maxLinks } = this.#deps
    this.#links += links
    if (this.#links > maxLinks) throw tooMuch(`${maxLinks} links`)
  }

  /** Counts work on the event loop, and gives others their turn when it is time. */
  #work(processorMs: number): Promise<void> | undefined {
    this.#processorMs += processorMs
    return this.#deps.readings.turns.count(processorMs) ? this.#pause() : undefined
  }

  async #pause(): Promise<void> {
    const { readings, budget, principal, signal } = this.#deps
    signal?.throwIfAborted()
    this.#chargePortion()
    if (!this.#isSlowed && budget.isOver(principal)) {
      this.#isSlowed = true
      budget.heldBack({ principal, work: 'links', how: 'slowed' })
    }
    await readings.turns.next(principal, signal)
  }

  #chargePortion(): void {
    if (this.#processorMs < CHARGED_MS) return
    this.#charge()
    const { budget, principal, maxUnpaidMs: limit } = this.#deps
    if (this.#unpaidMs <= limit) return
    budget.heldBack({ principal, work: 'links', how: 'closed' })
    const used = Math.round(this.#unpaidMs)
    const evidence = { work: 'links', unit: 'milliseconds', used, limit, retryAfterSeconds: 60 } as const
    throw new LadeError('over_budget', evidence)
  }
}

function isSmall({ cid, sizeBytes }: FoundBlock, { ask }: BlockQuestion): boolean {
  const isDecoded = cid.code === DAG_PB || (ask !== 'node' && (cid.code === DAG_CBOR || cid.code === DAG_JSON))
  return !isDecoded || sizeBytes <= (cid.code === DAG_JSON ? SMALL_JSON_BYTES : SMALL_BYTES)
}

function linksIn(answer: BlockAnswer): number {
  if ('linkCount' in answer) return answer.linkCount
  return 'links' in answer ? answer.links.linkCount : 0
}

function tooMuch(limit: string): LadeError<'not_acceptable'> {
  const reason = `The DAG has more than ${limit}. Request parts of it.`
  return new LadeError('not_acceptable', { reason })
}
