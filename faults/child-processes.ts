import { readFileSync } from 'node:fs'

/** The ids of the processes that `pid` started and that still run; none when it has ended itself. */
export function childrenOf(pid: number): number[] {
  const children = readOptional(`/proc/${pid}/task/${pid}/children`) ?? ''
  return children.split(' ').filter(Boolean).map(Number).filter(isRunning)
}

/** Whether `pid` is a process that runs. One that has ended and was not yet waited for does not. */
export function isRunning(pid: number): boolean {
  const status = readOptional(`/proc/${pid}/status`)
  return status !== undefined && !/^State:\s*[ZX]/m.test(status)
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // ESRCH when it ends between open and read.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined
    throw error
  }
}
