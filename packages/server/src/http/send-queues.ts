import { readFile, readlink } from 'node:fs/promises'

/** The tables of the kernel: one line for each connection of the machine, or of the container. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6']
const TX_QUEUE_FIELD = 4
const INODE_FIELD = 9

/**
 * How many bytes the kernel holds for the peer of each of these descriptors: sent and not acknowledged, or not sent.
 *
 * @returns undefined for a descriptor that is no TCP connection, and for all where the system does not say.
 */
export async function sendQueues(descriptors: readonly number[]): Promise<(number | undefined)[]> {
  const queues = new Map<string, number>()
  for (const table of TABLES) {
    // There is none without IPv6, and none outside Linux.
    const text = await readFile(table, 'latin1').catch(() => '')
    for (const line of text.split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      const inode = fields[INODE_FIELD]
      if (inode !== undefined) queues.set(`socket:[${inode}]`, Number.parseInt(fields[TX_QUEUE_FIELD] ?? '', 16))
    }
  }
  const names = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
  return names.map((name) => queues.get(name))
}
