import { setFlagsFromString } from 'node:v8'

const SEMI_SPACE_MIB = 2

/**
 * Bounds the memory that each thread of this process has for new objects. A thread takes the bound of the process otherwise, which is for
 * the thread that answers requests: what many requests at once hold fits into it, so that V8 need not move it.
 *
 * Call it once, at the start of the process, before there are threads. The bound of the calling thread stays as it is.
 */
export function keepThreadsSmall(): void {
  setFlagsFromString(`--max-semi-space-size=${SEMI_SPACE_MIB}`)
}
