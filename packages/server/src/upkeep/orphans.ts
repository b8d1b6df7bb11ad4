import { DAY_MS } from '@lade/core/time'
import type { Logger } from 'pino'
import type { BlobName, InventoryRecords } from '../records/record-store.ts'
import type { ScrubCounters } from './scrub-mark.ts'

const MARK = 'orphans'
/** So many are no sign of anything, and neither is this share of what was walked. */
const FEW = 100
const SMALL_SHARE = 0.01

/** What was decided about orphans, by any process. */
interface OrphanMark {
  /** So many were agreed to by the operator. */
  readonly allowed: number
  /** Since when orphans are counted and nothing else; epoch milliseconds. */
  readonly stoppedAt?: number
}

export interface OrphanPolicyDeps {
  readonly inventory: Pick<InventoryRecords, 'planOrphan' | 'letOrphansBe' | 'known' | 'mark' | 'setMark'>
  /** For how many days they are kept; 0 for good. */
  readonly days: number
  readonly now: () => number
  readonly log: Logger
}

/**
 * Decides what becomes of blobs that the records do not know. They are removed after some days, unless a walk meets many: then the records
 * are likelier to be wrong than the blobs, and none is removed until the operator has agreed.
 */
export interface OrphanPolicy {
  /** Reads what was decided meanwhile. At the beginning of a round. */
  load(): Promise<void>
  /** Plans the removal of one, or only counts it. Returns false when it is needed, or was planned before. */
  meet(blob: BlobName): Promise<boolean>
  /** Stops all removal of orphans when a walk has met too many. */
  judge(tally: ScrubCounters): Promise<void>
}

export function createOrphanPolicy({ inventory, days, now, log }: OrphanPolicyDeps): OrphanPolicy {
  let mark: OrphanMark = { allowed: 0 }

  return {
    async load() {
      mark = readOrphanMark(await inventory.mark(MARK))
    },

    async meet({ sha256, put }) {
      if (mark.stoppedAt !== undefined) return (await inventory.known([sha256])).length === 0
      return inventory.planOrphan({ sha256, put, now: now(), dueAt: orphanDueAt(now(), days) })
    },

    async judge({ blobs, orphans }) {
      const limit = mark.allowed + Math.max(FEW, Math.floor((blobs + orphans) * SMALL_SHARE))
      if (orphans <= limit || mark.stoppedAt !== undefined) return
      mark = { ...mark, stoppedAt: now() }
      await inventory.setMark({ name: MARK, value: JSON.stringify(mark) })
      await inventory.letOrphansBe()
      log.error(
        { orphans, blobs },
        'too many blobs are not in the records: none is removed until "lade doctor --adopt" confirms it',
      )
    },
  }
}

/** When an orphan that is met now is removed. @param days - for how long it is kept; 0 for good. */
export function orphanDueAt(now: number, days: number): number {
  return days === 0 ? Number.MAX_SAFE_INTEGER : now + days * DAY_MS
}

/** True while orphans are counted and not removed. */
export async function isOrphanRemovalStopped(inventory: Pick<InventoryRecords, 'mark'>): Promise<boolean> {
  return readOrphanMark(await inventory.mark(MARK)).stoppedAt !== undefined
}

/** Agrees that so many blobs are unknown to the records, and lets their removal go on. */
export async function allowOrphans(inventory: Pick<InventoryRecords, 'setMark'>, allowed: number): Promise<void> {
  await inventory.setMark({ name: MARK, value: JSON.stringify({ allowed } satisfies OrphanMark) })
}

function readOrphanMark(text: string | undefined): OrphanMark {
  if (text === undefined) return { allowed: 0 }
  const { allowed, stoppedAt } = JSON.parse(text) as Partial<OrphanMark>
  return { allowed: allowed ?? 0, ...(stoppedAt !== undefined && { stoppedAt }) }
}
