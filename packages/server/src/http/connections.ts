import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { addressPrincipal } from '../quotas/principal.ts'

/** From this share of the connections on, idle ones are closed to make room. */
const NEARLY_FULL = 0.9
/** The share of the connections that one address may hold. */
const ADDRESS_SHARE = 0.25
/** Descriptors that stay free for the database, the logs and the store, whatever callers do. */
const RESERVED_DESCRIPTORS = 128
/** A connection that reads a file, or writes one, has a descriptor for each. */
const DESCRIPTORS_PER_CONNECTION = 2

export interface ConnectionsOptions {
  /** Connections at once. */
  readonly maxCount: number
  /** True for addresses through which many callers come: they may hold all connections. */
  readonly isShared: (address: string) => boolean
  /** Told who was refused a connection, as a principal. */
  readonly onRefused: (principal: string) => void
}

/**
 * The open connections of one process: no address holds more than a quarter of them, and near the limit those make room that have been idle for
 * longest.
 *
 * @example
 * const connections = new Connections({ maxCount: 4096, isShared: () => false, onRefused: (principal) => log.warn({ principal }) })
 * server.on('connection', (socket) => connections.admit(socket))
 */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #counts = new Map<string, number>()
  /** Those without a request in hand; the one that has been idle for longest is first. */
  readonly #idle = new Set<Socket>()
  #count = 0

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  get maxCount(): number {
    return this.#options.maxCount
  }

  /** Notes a connection that the server has refused by itself, since there were `maxCount`. */
  noteRefused(remoteAddress: string | undefined): void {
    if (remoteAddress !== undefined) this.#options.onRefused(addressPrincipal(remoteAddress))
  }

  /** Takes a new connection. @returns false for one that was refused, and is closed. */
  admit(socket: Socket): boolean {
    const { maxCount, isShared, onRefused } = this.#options
    const { remoteAddress } = socket
    // Gone before it was looked at.
    if (remoteAddress === undefined) return false
    const principal = addressPrincipal(remoteAddress)
    const held = this.#counts.get(principal) ?? 0
    if (held >= Math.max(1, Math.floor(maxCount * ADDRESS_SHARE)) && !isShared(remoteAddress)) {
      onRefused(principal)
      socket.resetAndDestroy()
      return false
    }
    this.#count += 1
    this.#counts.set(principal, held + 1)
    socket.once('close', () => this.#forget(socket, principal))
    if (this.#count > maxCount * NEARLY_FULL) this.#makeRoom()
    this.#idle.add(socket)
    return true
  }

  /** Notes that a request has come in on a connection. */
  noteBusy(socket: Socket): void {
    this.#idle.delete(socket)
  }

  /** Notes that every request of a connection has its answer. */
  noteIdle(socket: Socket): void {
    if (!socket.destroyed) this.#idle.add(socket)
  }

  #makeRoom(): void {
    const [idleLongest] = this.#idle
    if (idleLongest === undefined) return
    this.#idle.delete(idleLongest)
    idleLongest.destroy()
  }

  #forget(socket: Socket, principal: string): void {
    this.#count -= 1
    this.#idle.delete(socket)
    const left = (this.#counts.get(principal) ?? 1) - 1
    if (left === 0) this.#counts.delete(principal)
    else this.#counts.set(principal, left)
  }
}

/** How many connections leave descriptors for everything else, of those that are wanted. */
export function affordableConnections(wantedCount: number, openFiles: number | undefined = maxOpenFiles()): number {
  if (openFiles === undefined) return wantedCount
  const affordable = Math.floor((openFiles - RESERVED_DESCRIPTORS) / DESCRIPTORS_PER_CONNECTION)
  return Math.max(16, Math.min(wantedCount, affordable))
}

/** How many files this process may have open; undefined where the system does not say. */
function maxOpenFiles(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
