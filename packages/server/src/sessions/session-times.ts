import { DAY_MS, HOUR_MS } from '@lade/core/time'
import type { SessionRecord } from '../records/record-store.ts'

/** How long a session lasts that nobody uses. */
const IDLE_MS = 12 * HOUR_MS

/** How long a session lasts that is used all the time. One that was made from a token lasts as long as that. */
export const LONGEST_MS = 30 * DAY_MS

/** When a session ends that was used at `now` for the last time. */
export function expiryOf({ endsAt }: Pick<SessionRecord, 'endsAt'>, now: number): number {
  return Math.min(now + IDLE_MS, endsAt)
}
