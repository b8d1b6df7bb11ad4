import type { Logger } from 'pino'
import type { BlobStore } from '../blobs/blob-store.ts'
import { type Repetition, repeat } from '../clock/repeat.ts'
import type { InstallationRecords } from '../records/record-store.ts'
import { readDocument, writeDocument } from './installation-document.ts'

export interface ProgressKeeperDeps {
  readonly installation: InstallationRecords
  readonly store: Pick<BlobStore, 'installation'>
  /** Of the installation that this process has joined. */
  readonly id: string
  readonly log: Logger
}

/** Keeps a number beside the objects that says how far the records have come. */
export interface ProgressKeeper {
  /** Raises the number if anything was promised since the last time, or `isForced`. A failure is logged and tried again with the next call. */
  keep(options?: { readonly isForced?: boolean }): Promise<void>
  /** Calls `keep` every `everyMs`, one call at a time, until `stop`. */
  start(everyMs: number): void
  /** Keeps what is left, and resolves when nothing is under way. */
  stop(): Promise<void>
  /** True once this process has seen that the records went back, or that the objects are of another installation. */
  isBroken(): boolean
}

/**
 * A keeper for one process. The number is raised in the records first, and written beside the objects after that is committed, so the
 * objects are ahead of the records only when the records went back. Several processes take turns in no order: a number that is lower than
 * the last one may be written, which makes a rollback of a second or two go unnoticed, and nothing worse.
 */
export function createProgressKeeper({ installation, store, id, log }: ProgressKeeperDeps): ProgressKeeper {
  let keptPromises = installation.promised()
  let lastWritten = 0
  let isBroken = false
  let hasFailed = false
  let repetition: Repetition | undefined

  async function raise(): Promise<void> {
    const promises = installation.promised()
    const progress = await installation.raise()
    const document = await readDocument(store)
    if (document?.id !== id) {
      isBroken = true
      log.error({ id, found: document?.id }, 'the objects now belong to another installation: stop every instance')
      return
    }
    if (progress <= lastWritten) {
      isBroken = true
      log.error({ progress, lastWritten }, 'the records went back in time while this process ran: stop every instance')
      return
    }
    // Another process may be further.
    if (document.progress < progress) await writeDocument(store, { id, progress })
    lastWritten = progress
    keptPromises = promises
    hasFailed = false
  }

  async function keep({ isForced = false }: { readonly isForced?: boolean } = {}): Promise<void> {
    if (isBroken || (!isForced && installation.promised() === keptPromises)) return
    try {
      await raise()
    } catch (error) {
      // Uploads go on: what is lost is that a rollback of these seconds would be noticed.
      if (!hasFailed) log.warn({ err: error }, 'could not write the progress of the records next to the objects')
      hasFailed = true
    }
  }

  return {
    keep,
    start(everyMs) {
      repetition = repeat(keep, everyMs)
    },
    async stop() {
      await repetition?.stop()
      await keep()
    },
    isBroken: () => isBroken,
  }
}
