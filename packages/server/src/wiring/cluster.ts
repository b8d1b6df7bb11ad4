import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Lade } from './lade.ts'

/** What a member tells the first process once it listens. */
interface ReadyMessage {
  readonly ready: string
}

/** A member that dies is started again after this. */
const RESTART_MS = 1000
/** How often a member may be killed before it is ready for the first time. More often is a fault of the machine or of Lade. */
const KILLS_AT_START = 5

/** True in a process that another one started as a member. */
export const isMember = cluster.isWorker

/**
 * Runs the same program in `count` processes that share the port and the data directory. A member that dies is
 * replaced; what it left is cleaned up by the others, as after any crash.
 *
 * The first process binds the port and accepts nothing: each member accepts from the same socket, so that the system
 * resets the connections of a dead member, and those that nobody has accepted yet go to another one.
 *
 * @throws {Error} with the `syscall` `fork` when a member cannot start, which has written why to the error stream, or is
 * killed again and again before it is ready; no member is left then.
 */
export async function startMembers(count: number): Promise<Lade> {
  // By default the first process accepts and hands connections over; those on their way to a member that dies stay open
  // in the first process, and nobody answers them.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  let isClosing = false
  const members = new Set<Worker>()
  const restarts = new Set<NodeJS.Timeout>()

  /** Starts a member, and another one whenever it dies. Resolves with its URL when one was ready for the first time. */
  const keepRunning = (): Promise<string> =>
    new Promise((resolve, reject) => {
      let wasReady = false
      let kills = 0
      const start = (): void => {
        const member = cluster.fork()
        members.add(member)
        member.once('message', ({ ready }: ReadyMessage) => {
          wasReady = true
          resolve(ready)
          // It was not listening to messages yet when the others were asked.
          if (isClosing) member.send('close', () => {})
        })
        member.once('exit', (code, signal) => {
          members.delete(member)
          if (signal) kills += 1
          // One that ends by itself has found something that a repetition does not change, such as a wrong setting.
          const isHopeless = !wasReady && (!signal || kills > KILLS_AT_START)
          if (isHopeless || isClosing) reject(endedTooEarly(signal || code))
          else restartSoon(start)
        })
      }
      start()
    })
  const restartSoon = (start: () => void): void => {
    const timer = setTimeout(() => {
      restarts.delete(timer)
      start()
    }, RESTART_MS)
    restarts.add(timer)
  }

  try {
    // The first one alone: it creates the database and the key, and says which port a free one became.
    const url = await keepRunning()
    await Promise.all(Array.from({ length: count - 1 }, () => keepRunning()))
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }

  async function close(): Promise<void> {
    isClosing = true
    // One that starts now would take requests while the others drain, and nobody would end it.
    for (const timer of restarts) clearTimeout(timer)
    restarts.clear()
    await Promise.all(
      [...members].map(async (member) => {
        const exited = once(member.process, 'exit')
        // One that is about to exit may have closed its channel; its exit is what counts.
        member.send('close', () => {})
        await exited
      }),
    )
  }
}

function endedTooEarly(how: number | string): Error {
  return Object.assign(new Error(`A process ended with ${how} before it was ready`), { syscall: 'fork' })
}

/**
 * Runs `start` as a member and announces what it started.
 *
 * @throws whatever `start` throws; the process can end by itself then.
 */
export async function startMember(start: () => Promise<Lade>): Promise<Lade> {
  try {
    const lade = await start()
    announceMember(lade)
    return lade
  } catch (error) {
    // The channel to the first process alone would keep this one running, and the first one waiting for it.
    process.channel?.unref()
    throw error
  }
}

/** Ends this member when the first process asks for it, and tells that one that this member listens. */
function announceMember(lade: Lade): void {
  process.on('message', (message) => {
    if (message === 'close') void lade.close().then(() => process.exit(0))
  })
  // Without the first process nobody would end this one. First in line, since Node's own listener ends the process at
  // once, uploads under way included, unless the exit was agreed.
  process.prependListener('disconnect', () => {
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
    void lade.close().then(() => process.exit(0))
  })
  process.send?.({ ready: lade.url } satisfies ReadyMessage)
}
