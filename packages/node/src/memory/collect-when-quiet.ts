import { performance } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { loadAddon } from '../addon/addon.ts'

const LOOK_MS = 5000
/** A thread that has worked less than this part of the time is quiet. */
const QUIET_UTILIZATION = 0.02
/** A collection takes two milliseconds for each MiB that is in use, so it has to be worth that. */
const WORTH_BYTES = 4 * 1024 * 1024

export interface CollectWhenQuietOptions {
  /** How often the thread looks. @default 5000 */
  readonly lookMs?: number
}

/** Both are of this thread: each thread has its own instance of this module. */
const frees = new Set<() => void>()
let isDue = false

/**
 * Collects the garbage of this thread when it has nothing to do, and gives free memory back to the system. V8 collects only when a thread
 * allocates, so an idle one keeps what its start or the last burst of requests left.
 *
 * To be called once in a thread. It does not keep the process alive, and collects again only after the heap has grown.
 *
 * @returns what ends it.
 */
export function collectWhenQuiet({ lookMs = LOOK_MS }: CollectWhenQuietOptions = {}): () => void {
  let before = performance.eventLoopUtilization()
  let leftBytes = 0
  let wasBusy = true
  isDue = true
  const looks = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    if (utilization > QUIET_UTILIZATION) {
      wasBusy = true
      return
    }
    const isWorthIt = isDue || heldBytes() - leftBytes >= WORTH_BYTES
    if (!isWorthIt && !wasBusy) return
    wasBusy = false
    for (const free of frees) free()
    if (isWorthIt) {
      collectGarbage()
      isDue = false
      leftBytes = heldBytes()
    }
    loadAddon()?.trimMemory()
    // This was work, too.
    before = performance.eventLoopUtilization()
  }, lookMs).unref()
  return () => clearInterval(looks)
}

/**
 * Has `free` called when this thread has become quiet, in a thread that {@link collectWhenQuiet}. It frees what is kept for speed alone.
 *
 * @returns what ends it.
 */
export function freeWhenQuiet(free: () => void): () => void {
  frees.add(free)
  return () => frees.delete(free)
}

/** Has this thread collect the next time it is quiet, also if its heap has not grown: V8 keeps pages of threads that have ended until then. */
export function collectSoon(): void {
  isDue = true
}

function heldBytes(): number {
  const { used_heap_size: heapBytes, external_memory: externalBytes } = getHeapStatistics()
  return heapBytes + externalBytes
}

/** Only contexts that are made after the flag was set have the function. This one is garbage after the next collection. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  // The usual collection leaves pages that are almost empty as they are.
  runInNewContext(`gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })`)
}
