import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Lade } from './main.ts'

/** What a member tells the first process once it listens. */
interface ReadyMessage {
  readonly ready: string
}

/** A member that dies young is started again no faster than this. */
const RESTART_MS = 1000

/** True in a process that another one started as a member. */
export const isMember = cluster.isWorker

/**
 * Runs the same program in `count` processes that share the port and the data directory. A member that dies is
 * replaced; what it left is cleaned up by the others, as after any crash.
 *
 * @throws {Error} with the `syscall` `fork` when a member cannot start, which has written why to the error stream; no
 * member is left then.
 */
export async function startMembers(count: number): Promise<Lade> {
  let isClosing = false
  const members = new Set<Worker>()
  const restarts = new Set<NodeJS.Timeout>()
  const start = (): Worker => {
    const member = cluster.fork()
    members.add(member)
    member.once('exit', () => {
      members.delete(member)
      if (!isClosing) restartSoon()
    })
    return member
  }
  const restartSoon = (): void => {
    const timer = setTimeout(() => {
      restarts.delete(timer)
      start()
    }, RESTART_MS)
    restarts.add(timer)
  }
  const ready = (member: Worker): Promise<string> =>
    new Promise((resolve, reject) => {
      member.once('message', (message: ReadyMessage) => resolve(message.ready))
      member.once('exit', (code, signal) => {
        const error = new Error(`A process ended with ${signal ?? code} before it was ready`)
        reject(Object.assign(error, { syscall: 'fork' }))
      })
    })

  try {
    // The first one alone: it creates the database and the key, and says which port a free one became.
    const url = await ready(start())
    await Promise.all(Array.from({ length: count - 1 }, () => ready(start())))
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

/** Tells the first process that this member listens, and ends it when asked to. */
function announceMember(lade: Lade): void {
  process.send?.({ ready: lade.url } satisfies ReadyMessage)
  process.on('message', (message) => {
    if (message === 'close') void lade.close().then(() => process.exit(0))
  })
  // Without the first process nobody would end this one. First in line, since Node's own listener ends the process at
  // once, uploads under way included, unless the exit was agreed.
  process.prependListener('disconnect', () => {
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
    void lade.close().then(() => process.exit(0))
  })
}
