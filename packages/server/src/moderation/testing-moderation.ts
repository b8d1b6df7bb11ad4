import { pino } from 'pino'
import type { RecordStore } from '../records/record-store.ts'
import { type Moderation, openModeration } from './moderation.ts'

/** What these records forbid, read again only when it is asked for. */
export function testingModeration(records: Pick<RecordStore, 'takedowns' | 'blockedCallers'>): Promise<Moderation> {
  const log = pino({ level: 'silent' })
  return openModeration({ records, denylists: [], log, now: () => 0, intervalMs: 2 ** 30 })
}
