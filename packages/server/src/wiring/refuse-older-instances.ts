import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '@lade/node/settings'
import type { InstanceLocks } from '../records/instance-locks.ts'
import { MoveRefused } from '../storage-move/move-refused.ts'
import { requireStopped, TIMEOUT_MS } from '../storage-move/require-stopped.ts'

/**
 * What is done before the data of an older version is brought up to date: refuses while an instance of that version lives, beside which
 * this one cannot run.
 *
 * @returns for the option `beforeUpgrade` of record stores.
 */
export function refuseOlderInstances(options: {
  readonly locks: InstanceLocks
  readonly place: string
  readonly engine: keyof typeof TIMEOUT_MS
}): (instances: readonly string[]) => Promise<void> {
  const { locks, place, engine } = options
  return async (instances) => {
    try {
      await requireStopped({
        instances: { list: async () => instances },
        locks,
        place,
        timeoutMs: TIMEOUT_MS[engine],
        wait: (ms) => sleep(ms),
      })
    } catch (error) {
      if (!(error instanceof MoveRefused)) throw error
      throw new StartError(
        `An older version of Lade still runs on ${place}. This version cannot run beside it. Stop every instance, start one, and start the others when it is ready.`,
        { cause: error },
      )
    }
  }
}
