import { WALLET_ADDRESSES } from '../../quota-rule/address-as-token.ts'
import { ERASED_ADDRESS } from '../erasure-records.ts'
import { THINNED } from './erasure-writes.ts'
import { IS_IN_NETWORK, NETWORK } from './network-sql.ts'
import { forEach, type Sql, type Steps } from './sql.ts'

interface AddressDay {
  readonly principal: string
  readonly day: string
  /** The network of the address; null for one without. */
  readonly network: string | null
}

/** Erasure of what is known of people once it is old. Each function runs inside the caller's transaction. */
export function prepareOldRecordWrites(db: Sql) {
  // A file that a wrong clock ended comes back while its bytes are kept, with its name.
  const thin = db.prepare<[number, number]>(
    `UPDATE files SET ${THINNED} WHERE sequence IN (
       SELECT sequence FROM files WHERE ended_at IS NOT NULL AND is_thin = 0 AND ended_at < ?
         AND NOT EXISTS (SELECT 1 FROM ended_objects WHERE ended_objects.object = files.object)
       ORDER BY ended_at LIMIT ?)`,
  )
  const oldDays = db.prepare<{ day: string; endedBefore: number; limit: number }, AddressDay>(
    `SELECT principal, day, CASE WHEN ${IS_IN_NETWORK} THEN ${NETWORK} END AS network FROM usage
     WHERE principal > '${ERASED_ADDRESS}' AND principal < 'ip;' AND day < :day AND stored_files = 0
       AND NOT EXISTS (SELECT 1 FROM files WHERE files.principal = usage.principal AND charged_day = day
         AND (ended_at IS NULL OR ended_at >= :endedBefore))
     ORDER BY day, principal LIMIT :limit`,
  )
  const moveFiles = db.prepare<[string, string]>(
    `UPDATE files SET ${THINNED}, principal = '${ERASED_ADDRESS}' WHERE principal = ? AND charged_day = ?`,
  )
  const moveUsage = db.prepare<[string, string]>(
    `INSERT INTO usage (principal, day, bytes, files, stored_bytes, stored_files, thinned_bytes, thinned_files)
     SELECT '${ERASED_ADDRESS}', day, bytes, files, stored_bytes, stored_files, thinned_bytes, thinned_files FROM usage
     WHERE principal = ? AND day = ?
     ON CONFLICT (principal, day) DO UPDATE SET bytes = usage.bytes + excluded.bytes, files = usage.files + excluded.files,
       thinned_bytes = usage.thinned_bytes + excluded.thinned_bytes, thinned_files = usage.thinned_files + excluded.thinned_files`,
  )
  const takeOffNetwork = db.prepare<{ network: string; principal: string; day: string }>(
    `UPDATE network_usage SET
       bytes = bytes - (SELECT bytes FROM usage WHERE usage.principal = :principal AND usage.day = :day),
       files = files - (SELECT files FROM usage WHERE usage.principal = :principal AND usage.day = :day)
     WHERE network = :network AND day = :day`,
  )
  const dropNetwork = db.prepare<[string, string]>(
    'DELETE FROM network_usage WHERE network = ? AND day = ? AND bytes = 0 AND files = 0 AND stored_bytes = 0',
  )
  const dropUsage = db.prepare<[string, string]>('DELETE FROM usage WHERE principal = ? AND day = ?')
  const dropWalletAddresses = db.prepare<[string]>(
    `DELETE FROM token_usage WHERE principal = '${WALLET_ADDRESSES}' AND day < ?`,
  )
  // Those that were revoked before anybody showed them have no user, and do not expire.
  const forgetTokens = db.prepare<[number, number]>(
    `DELETE FROM tokens WHERE jti IN (
       SELECT jti FROM tokens WHERE expires_at < ? AND sub <> '' ORDER BY expires_at LIMIT ?)`,
  )

  return {
    *oldFiles({ endedBefore, limit }: { endedBefore: number; limit: number }): Steps<number> {
      return (yield* thin.run(endedBefore, limit)).changes
    },

    *oldAddresses(request: { day: string; endedBefore: number; limit: number }): Steps<number> {
      yield* dropWalletAddresses.run(request.day)
      const days = yield* oldDays.all(request)
      yield* forEach(days, function* ({ principal, day, network }) {
        yield* moveFiles.run(principal, day)
        yield* moveUsage.run(principal, day)
        if (network !== null) {
          yield* takeOffNetwork.run({ network, principal, day })
          yield* dropNetwork.run(network, day)
        }
        yield* dropUsage.run(principal, day)
      })
      return days.length
    },

    *oldTokens({ expiredBefore, limit }: { expiredBefore: number; limit: number }): Steps<number> {
      return (yield* forgetTokens.run(expiredBefore, limit)).changes
    },
  }
}
