import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScenarioNeed } from './harness.ts'
import { tempDirectory } from './temp-directory.ts'

const LIBRARIES = ['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
const library = LIBRARIES.find((path) => existsSync(path))

/** A library that shows processes another system clock. */
export const faketime: ScenarioNeed = { name: 'libfaketime (package faketime)', isMet: () => library !== undefined }

/** The system clock of the processes that are started with its variables. Their monotonic clock is the machine's. */
export interface FakeClock {
  readonly env: Readonly<Record<string, string>>
  /** Sets the clock so many seconds ahead of the machine's, also for processes that run. */
  set(aheadSeconds: number): void
}

/** A clock that is right until it is set. */
export function fakeClock(): FakeClock {
  const file = join(tempDirectory(), 'clock')
  const set = (aheadSeconds: number): void =>
    writeFileSync(file, `${aheadSeconds < 0 ? '' : '+'}${aheadSeconds.toFixed(0)}\n`)
  set(0)
  return {
    env: {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    },
    set,
  }
}
