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
 * @throws {Error} when the members cannot start.
 */
export async function startMembers(count: number): Promise<Lade> {
  let isClosing = false
  const members = new Set<Worker>()
  const start = (): Worker => {
    const member = cluster.fork()
    members.add(member)
    member.once('exit', () => {
      members.delete(member)
      if (!isClosing) setTimeout(start, RESTART_MS)
    })
    return member
  }
  const ready = (member: Worker): Promise<string> =>
    new Promise((resolve, reject) => {
      member.once('message', (message: ReadyMessage) => resolve(message.ready))
      member.once('exit', (code) => reject(new Error(`A process ended with ${code} before it was ready.`)))
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
    await Promise.all(
      [...members].map(async (member) => {
        const exited = once(member, 'exit')
        member.send('close')
        await exited
      }),
    )
  }
}

/** Tells the first process that this member listens, and ends it when asked to. */
export function announceMember(lade: Lade): void {
  process.send?.({ ready: lade.url } satisfies ReadyMessage)
  process.on('message', (message) => {
    if (message === 'close') void lade.close().then(() => process.exit(0))
  })
  // Without the first process nobody would end this one.
  process.on('disconnect', () => void lade.close().then(() => process.exit(0)))
}
