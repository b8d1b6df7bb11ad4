import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Asks again and again until `holds` answers true.
 *
 * @throws {Error} naming `what` when that takes longer than `withinMs`; and whatever `holds` throws.
 */
export async function until(what: string, withinMs: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + withinMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${withinMs} ms`)
    await sleep(20)
  }
}

/**
 * Waits until somebody listens on a port of loopback.
 *
 * @param check - called before each try; what it throws ends the waiting.
 */
export function untilListening(port: number, withinMs: number, check: () => void = () => {}): Promise<void> {
  return until(`port ${port} listens`, withinMs, () => {
    check()
    return new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => {
        socket.destroy()
        resolve(true)
      })
      socket.once('error', () => resolve(false))
    })
  })
}
