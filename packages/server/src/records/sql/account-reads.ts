import { WALLET_ADDRESSES } from '../../quota-rule/address-as-token.ts'
import type { BlobName } from '../inventory-records.ts'
import type { PendingDiscards, Usage, UsageDay, UsageDrift } from '../record-store.ts'
import { IS_IN_NETWORK, NETWORK } from './network-sql.ts'
import { prepareOverdueFiles, STORED_BYTES } from './overdue-files.ts'
import { prepareRemovalHold } from './removal-hold.ts'
import type { Sql, Steps } from './sql.ts'

interface UsageRequest {
  readonly principal: string
  readonly fromDay: string
  readonly today: string
  readonly now: number
}

interface StoredRow {
  readonly bytes: number | null
  readonly files: number | null
}

/** Reads of usage, instances and discards. */
export function prepareAccountReads(db: Sql) {
  const { overdueOf } = prepareOverdueFiles(db)
  const days = db.prepare<[string, string, string], UsageDay>(
    'SELECT day AS date, bytes, files FROM usage WHERE principal = ? AND day BETWEEN ? AND ? AND files > 0 ORDER BY day',
  )
  const reserved = db.prepare<[string, string], StoredRow>(
    'SELECT SUM(bytes) AS bytes, COUNT(*) AS files FROM reservations WHERE principal = ? AND day = ? AND bytes > 0',
  )
  const open = db.prepare<[string], StoredRow>(
    'SELECT SUM(stored_bytes) AS bytes, SUM(stored_files) AS files FROM usage WHERE principal = ?',
  )
  const drift = db.prepare<[], UsageDrift>(
    `SELECT principal, day, SUM(counter) AS "counterBytes", SUM(charged) AS "chargedBytes",
       SUM(stored_counter) AS "storedCounterBytes", SUM(stored) AS "storedBytes" FROM (
       SELECT principal, day, bytes AS counter, thinned_bytes AS charged, stored_bytes AS stored_counter, 0 AS stored,
         files - thinned_files AS charges, stored_files AS live FROM usage
       UNION ALL
       SELECT principal, charged_day, 0, charged_bytes, 0, CASE WHEN ended_at IS NULL THEN ${STORED_BYTES} ELSE 0 END,
         -1, CASE WHEN ended_at IS NULL THEN -1 ELSE 0 END FROM files
       UNION ALL
       SELECT network, day, bytes, 0, stored_bytes, 0, files, 0 FROM network_usage
       UNION ALL
       SELECT ${NETWORK}, day, 0, bytes, 0, stored_bytes, -files, 0 FROM usage WHERE ${IS_IN_NETWORK}
       UNION ALL
       SELECT principal || ' token ' || token, day, bytes, thinned_bytes, 0, 0, 0, 0 FROM token_usage
       WHERE principal <> '${WALLET_ADDRESSES}'
       UNION ALL
       SELECT principal || ' token ' || charged_token, charged_day, 0, charged_bytes, 0, 0, 0, 0 FROM files
       WHERE charged_token IS NOT NULL AND charged_bytes > 0
     ) AS days GROUP BY principal, day
     HAVING SUM(counter) <> SUM(charged) OR SUM(stored_counter) <> SUM(stored) OR SUM(charges) <> 0 OR SUM(live) <> 0
     ORDER BY principal, day`,
  )
  const hold = prepareRemovalHold(db)
  const instances = db.prepare<[], string>('SELECT id FROM instances ORDER BY id').pluck()
  const discards = db.prepare<[number, string, number], BlobName>(
    `SELECT sha256, put FROM discards WHERE due_at <= ? AND (instance IS NULL OR instance = ?)
     ORDER BY due_at, created_at, sha256, put LIMIT ?`,
  )
  const discardsOf = db.prepare<[string, number, string, number], BlobName>(
    `SELECT sha256, put FROM discards WHERE sha256 = ? AND due_at <= ? AND (instance IS NULL OR instance = ?)
     ORDER BY put LIMIT ?`,
  )

  return {
    // In one snapshot, so that a charge is never seen both as reserved and as charged.
    *usage({ principal, fromDay, today, now }: UsageRequest): Steps<Usage> {
      const held = yield* open.get(principal)
      const over = yield* overdueOf((one) => one === principal, now)
      const inFlight = yield* reserved.get(principal, today)
      return {
        days: yield* days.all(principal, fromDay, today),
        reservedBytes: inFlight?.bytes ?? 0,
        reservedFiles: inFlight?.files ?? 0,
        stored: {
          bytes: (held?.bytes ?? 0) - over.bytes,
          files: (held?.files ?? 0) - over.files,
        },
      }
    },

    checkDrift: (): Steps<readonly UsageDrift[]> => drift.all(),

    instances: (): Steps<readonly string[]> => instances.all(),
    *pendingDiscards({ sha256, instanceId, now, limit }: PendingDiscards): Steps<readonly BlobName[]> {
      if (yield* hold.isHeld(now)) return []
      if (sha256 === undefined) return yield* discards.all(now, instanceId, limit)
      return yield* discardsOf.all(sha256, now, instanceId, limit)
    },
  }
}
