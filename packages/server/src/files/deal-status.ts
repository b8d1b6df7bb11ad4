import { DAY_MS } from '@lade/core/time'
import type { DealEntry } from '@lade/core/wire'
import type { FileRecord, PlacedStatus } from '../records/record-store.ts'

/** The last tenth of a term is when its owner should be told, of long ones the last three days. */
const EXPIRING_PART = 10
const EXPIRING_DAYS = 3

/** From when on an active deal is `expiring`. The records' listing follows the same rule. */
export function expiringFrom({ expiresAt, termDays }: Pick<FileRecord, 'expiresAt' | 'termDays'>): number {
  return expiresAt - Math.min(EXPIRING_DAYS, termDays / EXPIRING_PART) * DAY_MS
}

/** The status of the deal of a live file, as recorded. */
export interface PlacedDealStatus {
  readonly status: PlacedStatus
  readonly statusAt: number
  readonly cause: string | null
  /** The id on the chain, once it is confirmed; null before. */
  readonly onchainDealId: string | null
}

/** The status of a deal, and since when it has it. */
export interface DealStatus {
  readonly status: DealEntry['status']
  /** Epoch milliseconds. */
  readonly since: number
  /** Why it is `failed`; null otherwise. */
  readonly cause: string | null
}

/**
 * The status of the deal of a file at `now`. The file decides first: what has ended is `expired` or `removed`, whoever still holds it.
 *
 * @param placed - undefined for a file that nobody has begun to place.
 */
export function dealStatusOf(file: FileRecord, placed: PlacedDealStatus | undefined, now: number): DealStatus {
  if (file.end !== null) {
    return { status: file.end === 'expired' ? 'expired' : 'removed', since: file.endedAt ?? now, cause: null }
  }
  if (file.expiresAt <= now) return { status: 'expired', since: file.expiresAt, cause: null }
  if (placed === undefined) return { status: 'staged', since: file.uploadedAt, cause: null }
  const { status, statusAt, cause } = placed
  if (status === 'active' && expiringFrom(file) <= now) {
    return { status: 'expiring', since: Math.max(statusAt, expiringFrom(file)), cause: null }
  }
  return { status, since: statusAt, cause: status === 'failed' ? cause : null }
}
