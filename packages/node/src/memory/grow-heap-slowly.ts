import { setFlagsFromString } from 'node:v8'

const GROWTH_PERCENT = 100

/**
 * Has V8 collect the garbage of a heap when it has doubled since the last time, for a process that should stay small. By itself V8
 * lets a small heap grow to four times, and what arrives of many uploads at once fills it.
 *
 * Call it once, at the start of the process, before there are threads.
 */
export function growHeapSlowly(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
