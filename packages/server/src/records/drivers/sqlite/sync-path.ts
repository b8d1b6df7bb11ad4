import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Flushes a file, or the names in a directory, and waits for it. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
