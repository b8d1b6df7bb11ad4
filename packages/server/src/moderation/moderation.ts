import type { Logger } from 'pino'
import { repeat } from '../clock/repeat.ts'
import type { RecordStore } from '../records/record-store.ts'
import { BlockedCallers } from './blocked-callers.ts'
import { BlockedContent } from './blocked-content.ts'
import { type DenylistState, watchDenylists } from './denylist/watch-denylists.ts'

/** What the operator changes on one instance holds on every other after this, and the time of two small reads. */
const LOOK_MS = 500

export interface ModerationOptions {
  readonly records: Pick<RecordStore, 'takedowns' | 'blockedCallers'>
  readonly denylists: readonly string[]
  readonly log: Logger
  readonly now: () => number
  /** @default 500 */
  readonly intervalMs?: number
}

/** What the operator forbids, kept up to date in this process. */
export interface Moderation {
  readonly content: BlockedContent
  readonly callers: BlockedCallers
  /** Denylists as they were read last. */
  denylists(): readonly DenylistState[]
  /** Resolves when what the records say now holds here. @throws {LadeError} `storage_failed`. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/**
 * Reads what is forbidden, and follows the records and the denylists as they change. While the records cannot be read, what was known stays
 * in force.
 *
 * @throws {LadeError} `storage_failed`.
 * @throws {Error} for a denylist that cannot be read.
 */
export async function openModeration(options: ModerationOptions): Promise<Moderation> {
  const { records, denylists, log, now, intervalMs = LOOK_MS } = options
  const { takedowns, blockedCallers } = records
  const content = new BlockedContent(records)
  const callers = new BlockedCallers()
  let callerRevision = 0

  async function read(): Promise<void> {
    if ((await takedowns.revision()) !== content.takedownRevision) {
      const { revision, changed } = await takedowns.changes({ since: content.takedownRevision })
      content.applyTakedowns(revision, changed)
    }
    if ((await blockedCallers.revision()) !== callerRevision) {
      const { revision, changed } = await blockedCallers.changes({ since: callerRevision })
      callerRevision = revision
      callers.apply(changed)
    }
  }

  let reading: Promise<void> = Promise.resolve()
  const refresh = (): Promise<void> => {
    // One at a time: an older answer must not come after a newer one.
    reading = reading.catch(() => {}).then(read)
    return reading
  }
  let isFailing = false
  const refreshOrReport = async (): Promise<void> => {
    try {
      await refresh()
      isFailing = false
    } catch (error) {
      if (!isFailing)
        log.error({ err: error }, 'blocked content and callers cannot be read: the known ones stay blocked')
      isFailing = true
    }
  }

  await refresh()
  const lists =
    denylists.length === 0
      ? undefined
      : await watchDenylists({ files: denylists, log, now, onRead: (denylist) => content.useDenylist(denylist) })
  const looks = repeat(refreshOrReport, intervalMs)
  return {
    content,
    callers,
    denylists: () => lists?.states() ?? [],
    refresh,
    async close() {
      await looks.stop()
      await lists?.close()
    },
  }
}
