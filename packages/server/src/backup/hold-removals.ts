import { LadeError } from '@lade/core/errors'
import { createLeaseholder } from '../records/leaseholder.ts'
import type { RecordStore } from '../records/record-store.ts'
import { REMOVAL_HOLD } from '../records/removal-hold.ts'
import { BackupRefused } from './backup-refused.ts'

const LASTS_MS = 60_000
const RENEW_EVERY_MS = 10_000

export interface HoldRemovalsDeps {
  readonly records: RecordStore
  /** Tells this backup from others; the same when it is run again, which then goes on with the hold that it left. */
  readonly holder: string
  readonly now: () => number
  readonly onWarning: (sentence: string) => void
}

/**
 * Has every instance keep bytes that no file needs any more, until this is released or a minute after this process has ended: what a
 * snapshot needs can be copied then. Files end and are removed meanwhile as ever.
 *
 * Records that take no writes cannot hold; that is a warning, and what is removed meanwhile has the backup begin again.
 *
 * @throws {BackupRefused} while another backup holds.
 */
export async function holdRemovals(deps: HoldRemovalsDeps): Promise<{ release(): Promise<void> }> {
  const { records, holder, now, onWarning } = deps
  const leaseholder = createLeaseholder({ records, name: REMOVAL_HOLD, lastsMs: LASTS_MS, holder, now })
  try {
    if (!(await leaseholder.hold())) {
      throw new BackupRefused('Another backup of this service is running. Wait until it ends.')
    }
  } catch (error) {
    if (!LadeError.is(error)) throw error
    onWarning(`Cannot delay file removals during the backup: ${error.message}`)
    return { release: async () => {} }
  }
  let isReleased = false
  let renewing: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    renewing = leaseholder.hold().then(
      (isHeld) =>
        !isHeld &&
        !isReleased &&
        onWarning(
          'Lade could not keep delaying file removals until the end of the backup. The backup checks for removed files and continues.',
        ),
      // It is tried again, and what is removed meanwhile is found out.
      () => {},
    )
  }, RENEW_EVERY_MS)
  timer.unref()
  return {
    async release() {
      isReleased = true
      clearInterval(timer)
      await renewing
      await leaseholder.giveBack()
    },
  }
}
