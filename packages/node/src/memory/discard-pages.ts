import { loadAddon } from '../addon/addon.ts'

/**
 * Gives the memory behind bytes back to the system until they are written again. Nothing may read what was in them.
 *
 * It does nothing where the addon is not built, and off Linux.
 */
export function discardPages(bytes: Uint8Array): void {
  loadAddon()?.discardPages(bytes)
}
