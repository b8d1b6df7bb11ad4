import { loadAddon } from '../hashing/addon.ts'

/**
 * Has the C library of this process give freed memory back to the system after many requests at once.
 *
 * Call it once, before there is much in memory. It changes no result, and does nothing where the addon is not built or the C library is not
 * glibc.
 */
export function returnMemory(): void {
  loadAddon()?.returnMemory()
}
