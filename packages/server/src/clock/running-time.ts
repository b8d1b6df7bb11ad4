import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/** A sleep that is shorter is left to the tolerance. */
const SHORTEST_SLEEP_MS = 2000
const BOOT_ID = '/proc/sys/kernel/random/boot_id'

/** Time that no setting of a clock changes. */
export interface RunningTime {
  /** Milliseconds since some moment, sleep of the machine included after {@link noticeSleep}. Cheap. */
  elapsedMs(): number
  /** Adds what the machine has slept to {@link elapsedMs}. The monotonic clock of some systems stands still meanwhile. */
  noticeSleep(): void
  /** Identifies this run of the operating system; undefined where it has no such id. */
  readonly boot: string | undefined
  /** How long this run has lasted, sleep included. */
  uptimeMs(): number
}

/** The running time of this machine: its monotonic clock, its uptime, and the id of its boot. */
export function openRunningTime(): RunningTime {
  const uptimeMs = (): number => uptime() * 1000
  let aheadMs = uptimeMs() - performance.now()
  let sleptMs = 0
  return {
    elapsedMs: () => performance.now() + sleptMs,
    noticeSleep() {
      const slept = uptimeMs() - performance.now() - aheadMs
      if (slept < SHORTEST_SLEEP_MS) return
      sleptMs += slept
      aheadMs += slept
    },
    boot: bootId(),
    uptimeMs,
  }
}

function bootId(): string | undefined {
  try {
    return readFileSync(BOOT_ID, 'utf8').trim()
  } catch (error) {
    // Only Linux has it.
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}
