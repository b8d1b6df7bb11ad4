import { loadAddon } from '../addon/addon.ts'

/**
 * Makes the C library return freed memory to the operating system, so that the process shrinks after a burst of requests.
 *
 * Call it once, at the start of the process. It does nothing where the addon is not built or the C library is not glibc.
 */
export function returnMemory(): void {
  loadAddon()?.returnMemory()
}
