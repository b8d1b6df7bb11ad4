import { closeSync, openSync, rmSync, writeSync } from 'node:fs'

/** What a disk takes. `unknown`: the attempt failed in a way that says nothing about it, such as a lack of file descriptors. */
export type DiskState = 'writable' | 'full' | 'read_only' | 'unknown'

/** Enough that SQLite can make the files that it needs beside a database. */
const PROBE_BYTES = 64 * 1024

/**
 * Writes a small file beside the database and removes it. A mount option does not tell: a file system that an error has made read-only
 * still lets files be opened for writing.
 */
export function probeDisk(databaseFile: string): DiskState {
  const path = `${databaseFile}-probe.${process.pid}`
  try {
    const handle = openSync(path, 'w', 0o600)
    try {
      const block = Buffer.alloc(PROBE_BYTES)
      for (let written = 0; written < PROBE_BYTES; ) written += writeSync(handle, block, written)
    } finally {
      closeSync(handle)
      rmSync(path, { force: true })
    }
    return 'writable'
  } catch (error) {
    return stateBy(error)
  }
}

function stateBy(error: unknown): DiskState {
  if (!(error instanceof Error && 'code' in error)) throw error
  switch (error.code) {
    case 'EROFS':
      return 'read_only'
    case 'ENOSPC':
    case 'EDQUOT':
      return 'full'
    default:
      return 'unknown'
  }
}
