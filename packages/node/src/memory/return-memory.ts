import { loadAddon } from '../hashing/addon.ts'

/**
 * Has the C library of this process give freed memory back to the system: what a crowd took is not kept when the crowd has gone.
 *
 * Call it once, before there is much in memory. It changes no result, and does nothing where the addon is not built or the C library is not
 * glibc.
 */
export function returnMemory(): void {
  loadAddon()?.returnMemory()
}
