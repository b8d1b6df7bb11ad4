import { readdirSync, readFileSync } from 'node:fs'

/** Processor time that all threads of a process have used, in milliseconds; Linux only. */
export function processorMsOf(pid: number): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
  }
  return nanoseconds / 1_000_000
}
