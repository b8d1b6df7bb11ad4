import { LadeError } from '@lade/core/errors'
import type { Fence, RecordsState } from '../../record-store.ts'
import { prepareReads, type ReadInput, type ReadName, type ReadOutput, SNAPSHOT_READS } from '../../sql/reads.ts'
import type { Steps } from '../../sql/sql.ts'
import type { WriteInput, WriteName, WriteOutput } from '../../sql/writes.ts'
import type { Connection } from './connection.ts'
import { type DiskState, probeDisk } from './disk-probe.ts'
import { type DiskRoom, diskRoom } from './disk-room.ts'
import { openReadOnly } from './read-only-database.ts'
import { type ReadingDatabase, readingOn } from './reading-database.ts'
import { type RoomReserve, roomReserve } from './room-reserve.ts'
import { runNow } from './sqlite-sql.ts'
import { readOnly, Writer } from './writer.ts'

/** How often it is tried whether the disk can be written again, and whether the reserve can be made. */
const LOOK_MS = 2000
/** How long a read that failed counts against the readiness of the records. */
const READ_FAILURE_MS = 10_000
/** Generations of one opening stay below this. */
const GENERATIONS = 2 ** 32

export interface RecordsAccessOptions {
  readonly file: string
  readonly maxSizeBytes?: number | undefined
  /** Kept free on the disk of the file; with it comes the reserve. @default neither */
  readonly minFreeBytes?: number | undefined
  /** Opens the connection that reads while others write, its schema up to date. */
  readonly openToWrite: () => Promise<Connection>
  readonly onFatal: (error: Error) => void
  /** Told whenever the state changes, and why. */
  readonly onState?: ((state: RecordsState, cause: Error | undefined) => void) | undefined
}

/**
 * A database file that is read whatever its disk allows, and written whenever it can be.
 *
 * While nothing can be written, the disk is tried every two seconds, and writing goes on by itself once that succeeds.
 */
export class RecordsAccess {
  readonly #options: RecordsAccessOptions
  readonly #reserve: RoomReserve | undefined
  readonly #room: DiskRoom | undefined
  readonly #hooks: (() => Promise<void>)[] = []
  #state: RecordsState = 'writable'
  #database: ReadingDatabase
  #reads: Record<ReadName, (input: never) => Steps<unknown>>
  #writer: Writer | undefined
  /** Resolves when no writer has the file open that was given up. */
  #retired: Promise<void> = Promise.resolve()
  #openings = 0
  #generation = 0
  /** The data version that `#generation` is of; undefined when there is none yet of this opening. */
  #seenVersion: number | undefined
  #readFailedAt: number | undefined
  #looking: Promise<void> | undefined
  #reopening: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  /** @throws {Error} when the file can neither be written nor read. */
  static async open(options: RecordsAccessOptions): Promise<RecordsAccess> {
    const reserve = options.minFreeBytes === undefined ? undefined : roomReserve(options.file)
    const { database, state, cause } = await openFirst(options, reserve)
    const access = new RecordsAccess(options, { database, reserve })
    if (state === 'writable') access.#startWriter()
    else access.#enter(state, cause)
    access.#timer = setInterval(() => access.#lookAgain(), LOOK_MS).unref()
    return access
  }

  private constructor(
    options: RecordsAccessOptions,
    { database, reserve }: { readonly database: ReadingDatabase; readonly reserve: RoomReserve | undefined },
  ) {
    const { file, minFreeBytes } = options
    this.#options = options
    this.#reserve = reserve
    this.#room = minFreeBytes === undefined ? undefined : diskRoom({ file, minFreeBytes })
    this.#database = database
    this.#reads = prepareReads(database.sql)
  }

  get state(): RecordsState {
    return this.#state
  }

  /** What the reserve holds, where there is one. */
  get reserveBytes(): number | undefined {
    return this.#reserve?.sizeBytes()
  }

  /** Differs after every change of what is found under a key. The database is asked for it when something was committed. */
  get generation(): number {
    const version = this.#database.dataVersion()
    if (version !== this.#seenVersion) {
      this.#seenVersion = version
      this.#generation = this.#openings * GENERATIONS + this.#database.servingChanges()
    }
    return this.#generation
  }

  /** Runs `hook` before writing begins again; while it fails, writing does not. */
  beforeWritable(hook: () => Promise<void>): void {
    this.#hooks.push(hook)
  }

  async read<Name extends ReadName>(name: Name, input: ReadInput<Name>): Promise<ReadOutput<Name>> {
    try {
      if (this.#reopening === undefined && this.#database.isOutdated()) this.#reopen(this.#openAnew())
      if (this.#reopening !== undefined) await this.#reopening
      const steps = this.#reads[name](input as never)
      const run = (): unknown => runNow(steps)
      return (SNAPSHOT_READS.has(name) ? this.#database.inSnapshot(run) : run()) as ReadOutput<Name>
    } catch (cause) {
      this.#readFailedAt = performance.now()
      throw unreadable(cause)
    }
  }

  async write<Name extends WriteName>(name: Name, input: WriteInput<Name>, fence?: Fence): Promise<WriteOutput<Name>> {
    if (this.#state !== 'writable' || this.#writer === undefined) throw refusalOf(this.#state)
    this.#room?.requireFor(name, input)
    return this.#writer.write(name, input, fence)
  }

  /** @throws {LadeError} `read_only`, and `storage_failed` while reads fail. */
  async check(): Promise<void> {
    if (this.#state !== 'writable') throw readOnly()
    const failedAt = this.#readFailedAt
    if (failedAt !== undefined && performance.now() - failedAt < READ_FAILURE_MS) {
      throw unreadable(new Error('A read of the records failed.'))
    }
    try {
      this.#database.dataVersion()
    } catch (cause) {
      throw unreadable(cause)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
    await this.#writer?.close()
    await this.#retired
    if (this.#writer?.hasFailed === true) this.#database.abandon()
    else this.#database.close()
  }

  #startWriter(): void {
    const { file, maxSizeBytes, onFatal } = this.#options
    this.#writer = new Writer({ file, maxSizeBytes, onFatal, onReadOnly: (cause) => this.#stopWriting(cause) })
  }

  /** Reads go on through the connection that is open. */
  #stopWriting(cause: Error): void {
    const writer = this.#writer
    this.#writer = undefined
    if (writer !== undefined) this.#retired = writer.close()
    this.#enter('read_only', cause)
  }

  #enter(state: RecordsState, cause: Error | undefined): void {
    this.#state = state
    this.#options.onState?.(state, cause)
  }

  #lookAgain(): void {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
  }

  async #look(): Promise<void> {
    if (this.#state === 'writable') {
      // It is made when there is room for it, which there may not be even by the count of free space.
      await this.#reserve?.restore().catch(() => {})
      return
    }
    if (probeDisk(this.#options.file) !== 'writable') return
    try {
      for (const hook of this.#hooks) await hook()
      await this.#retired
      await this.#reopen(this.#writeAgain())
    } catch (error) {
      this.#options.onState?.(this.#state, asError(error))
    }
  }

  /** Reads wait meanwhile. */
  #reopen(opening: Promise<void>): Promise<void> {
    this.#reopening = opening.finally(() => {
      this.#reopening = undefined
    })
    return this.#reopening
  }

  /** From the beginning, as a start does, since nobody knows what the disk took of what was written last. */
  async #writeAgain(): Promise<void> {
    this.#database.close()
    try {
      this.#use(readingOn(await this.#options.openToWrite()))
    } catch (error) {
      // Nothing else can be done with a disk that takes writes and fails them.
      if (!isFull(error) && probeDisk(this.#options.file) === 'writable') this.#options.onFatal(asError(error))
      else this.#use(await openReadOnly(this.#options.file))
      throw error
    }
    this.#startWriter()
    this.#enter('writable', undefined)
  }

  async #openAnew(): Promise<void> {
    const old = this.#database
    this.#use(await openReadOnly(this.#options.file))
    old.close()
  }

  #use(database: ReadingDatabase): void {
    this.#openings += 1
    this.#seenVersion = undefined
    this.#database = database
    this.#reads = prepareReads(database.sql)
  }
}

interface FirstOpening {
  readonly database: ReadingDatabase
  readonly state: RecordsState
  readonly cause?: Error
}

async function openFirst(options: RecordsAccessOptions, reserve: RoomReserve | undefined): Promise<FirstOpening> {
  const { file, openToWrite } = options
  const probe = (): DiskState => {
    const found = probeDisk(file)
    return found === 'full' && reserve?.giveUp() === true ? probeDisk(file) : found
  }
  if (probe() === 'read_only') {
    return { database: await openReadOnly(file), state: 'read_only', cause: new Error('The disk is not writable.') }
  }
  try {
    return { database: readingOn(await openToWrite()), state: 'writable' }
  } catch (error) {
    // Room that is little enough for the probe can be too little for the rest.
    const isByReserve = isFull(error) && reserve?.giveUp() === true
    if (isByReserve) return { database: readingOn(await openToWrite()), state: 'writable' }
    const found = isFull(error) ? 'full' : probeDisk(file)
    if (found === 'full' || found === 'read_only') {
      return { database: await openReadOnly(file), state: found, cause: asError(error) }
    }
    throw error
  }
}

/** True for a failure for want of room, or one that it caused. */
function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return ['SQLITE_FULL', 'ENOSPC', 'EDQUOT'].includes(code) || isFull(error.cause)
}

function refusalOf(state: RecordsState): LadeError {
  return state === 'full' ? new LadeError('insufficient_storage', { retryAfterSeconds: 60 }) : readOnly()
}

function unreadable(cause: unknown): LadeError<'storage_failed'> {
  return new LadeError('storage_failed', { retryAfterSeconds: 5 }, { cause })
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value))
}
