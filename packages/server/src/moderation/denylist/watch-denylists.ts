import { stat } from 'node:fs/promises'
import type { Logger } from 'pino'
import { repeat } from '../../clock/repeat.ts'
import { Denylist } from './denylist.ts'
import { type ReadDenylist, readDenylist } from './read-denylist.ts'

/** A list as it was read last. */
export interface DenylistState extends ReadDenylist {
  readonly file: string
  /** Epoch milliseconds. */
  readonly readAt: number
}

export interface WatchDenylistsOptions {
  /** In their order: of rules that contradict each other, the one of the last list counts. */
  readonly files: readonly string[]
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  readonly now: () => number
  /** Called with the rules of all lists, at first and whenever one has changed. */
  readonly onRead: (denylist: Denylist) => void
  /** Time between two looks at the files. @default 1000 */
  readonly intervalMs?: number
}

/** Denylists that are followed as their files change. */
export interface DenylistWatch {
  /** What was read last, list by list. */
  states(): readonly DenylistState[]
  /** Looks at the files now. */
  look(): Promise<void>
  close(): Promise<void>
}

/**
 * Reads denylists, and reads all of them again when one has changed. A list that cannot be read any more, or whose header is wrong, changes
 * nothing but the log: the rules from before stay in force.
 *
 * @throws {Error} when one of them cannot be read at first.
 */
export async function watchDenylists(options: WatchDenylistsOptions): Promise<DenylistWatch> {
  const { files, log, now, onRead, intervalMs = 1000 } = options
  let states: readonly DenylistState[] = []
  let lastSeen = ''
  let lastFailure = ''

  async function look(): Promise<void> {
    const seen = (await Promise.all(files.map(identityOf))).join('\n')
    if (seen === lastSeen) return
    const denylist = new Denylist()
    const read: DenylistState[] = []
    for (const file of files) {
      try {
        read.push({ ...(await readDenylist(file, denylist)), file, readAt: now() })
      } catch (cause) {
        throw new Error(`Lade cannot use the denylist ${file} (LADE_DENYLIST): ${reasonOf(cause)}`, { cause })
      }
    }
    lastSeen = seen
    states = read
    onRead(denylist)
    for (const { file, rules, ignored, invalid, shown } of read) {
      if (invalid === 0) log.info({ file, rules, ignored }, 'a denylist was read')
      else log.warn({ file, rules, ignored, invalid, shown }, 'a denylist was read; invalid lines were ignored')
    }
  }

  async function lookOrReport(): Promise<void> {
    try {
      await look()
      lastFailure = ''
    } catch (error) {
      const reason = (error as Error).message
      if (reason !== lastFailure) log.error({ err: error }, 'a denylist cannot be read: its former rules stay in force')
      lastFailure = reason
    }
  }

  await look()
  const looks = repeat(lookOrReport, intervalMs)
  return { states: () => states, look, close: () => looks.stop() }
}

/** Changes with every change of the file. Taken before it is read, so that a change in between is seen next time. */
async function identityOf(file: string): Promise<string> {
  try {
    const { ino, mtimeNs, ctimeNs, size } = await stat(file, { bigint: true })
    return [file, ino, mtimeNs, ctimeNs, size].join(' ')
  } catch {
    return `${file} cannot be read`
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
