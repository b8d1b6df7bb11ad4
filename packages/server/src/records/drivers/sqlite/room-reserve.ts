import { randomFillSync } from 'node:crypto'
import { type Dirent, lstatSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'

/** On a disk smaller than 512 MiB it is a thirty-second of the disk. */
export const RESERVE_BYTES = 16 * 1024 * 1024
const SMALLEST_SHARE = 32
/** Several files, since a disk can also run out of inodes. */
const PARTS = 8
const SECTOR_BYTES = 4096
/** Left beside a reserve that is made, so that making it fills no disk. */
const SPARE_BYTES = 4 * 1024 * 1024
const SPARE_INODES = 32

/** Room on the disk of the records that is given up when the disk is full, so that files can be removed even then. */
export interface RoomReserve {
  /** Gives the room up. @returns whether there was any. */
  giveUp(): boolean
  /** Makes what is missing of it, when the disk has room for it. Never rejects for want of room. */
  restore(): Promise<void>
  /** What is there now. */
  sizeBytes(): number
}

/**
 * The reserve of a database: the folder `<file>-reserve`, whose files hold bytes that mean nothing. Processes that share the database
 * share it.
 */
export function roomReserve(databaseFile: string): RoomReserve {
  const dir = `${databaseFile}-reserve`
  const parts = Array.from({ length: PARTS }, (_, index) => join(dir, String(index)))

  function missingParts(partBytes: number): string[] {
    return parts.filter((path) => allocatedBytes(path) < partBytes)
  }

  return {
    giveUp() {
      const isThere = entriesOf(dir).length > 0
      if (isThere) rmSync(dir, { recursive: true, force: true })
      return isThere
    },
    async restore() {
      const { blocks, bsize, bavail, files, ffree } = statfsSync(databaseFile)
      const wholeBytes = Math.min(RESERVE_BYTES, (blocks * bsize) / SMALLEST_SHARE)
      const partBytes = Math.floor(wholeBytes / PARTS / SECTOR_BYTES) * SECTOR_BYTES
      const missing = missingParts(partBytes)
      const isRoom = bavail * bsize >= missing.length * partBytes + SPARE_BYTES
      // Some file systems count no inodes.
      const areInodes = files === 0 || ffree >= missing.length + SPARE_INODES
      if (missing.length === 0 || !isRoom || !areInodes) return
      await mkdir(dir, { recursive: true, mode: 0o700 })
      // Zeros would take no room on a file system that compresses.
      const bytes = randomFillSync(new Uint8Array(partBytes))
      for (const path of missing) await writePart(path, bytes)
    },
    sizeBytes: () => parts.reduce((sum, path) => sum + allocatedBytes(path), 0),
  }
}

async function writePart(path: string, bytes: Uint8Array): Promise<void> {
  await using handle = await open(path, 'w', 0o600)
  await handle.writeFile(bytes)
}

/** What the file takes of the disk by its length: blocks are allocated late. */
function allocatedBytes(path: string): number {
  try {
    return lstatSync(path).size
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return 0
    throw error
  }
}

function entriesOf(dir: string): Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
