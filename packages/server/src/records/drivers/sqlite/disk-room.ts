import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { LadeError } from '@lade/core/errors'
import type { WriteName } from '../../sql/writes.ts'

/** How old the count of free space may be. */
const LOOK_MS = 200
/** What a file without its bytes takes in the records and their log, at most. */
const ROW_BYTES = 32 * 1024
/** Kept free for the files that a start makes. */
const SPARE_INODES = 32

/** Writes by which callers add to the records, and that are refused while others still have room. */
const ADDITIONS: ReadonlySet<WriteName> = new Set<WriteName>([
  'quotas.reserve',
  'quotas.commitAtOnce',
  'compositions.commit',
])

/** Whether the disk of the records has room for more. */
export interface DiskRoom {
  /**
   * Looks at the disk at most every {@link LOOK_MS} ms.
   *
   * @throws {LadeError} `insufficient_storage` for a write by which a caller adds something that the disk should not take.
   */
  requireFor(name: WriteName, input: unknown): void
}

/**
 * Keeps `minFreeBytes` of the disk under a database free of new files. Between two looks, and by other programs, less can be left.
 */
export function diskRoom(options: {
  readonly file: string
  readonly minFreeBytes: number
  /** @default performance.now() */
  readonly monotonicMs?: () => number
}): DiskRoom {
  const { file, minFreeBytes, monotonicMs = () => performance.now() } = options
  const dir = dirname(file)
  let look: { freeBytes: number; readonly hasInodes: boolean; readonly at: number } | undefined

  return {
    requireFor(name, input) {
      if (!ADDITIONS.has(name)) return
      const now = monotonicMs()
      if (look === undefined || now - look.at >= LOOK_MS) {
        const { bavail, bsize, files, ffree } = statfsSync(dir)
        look = { freeBytes: bavail * bsize, hasInodes: files === 0 || ffree >= SPARE_INODES, at: now }
      }
      const sizeBytes = ROW_BYTES + inlineBytesOf(input)
      if (!look.hasInodes || look.freeBytes - sizeBytes < minFreeBytes) {
        throw new LadeError('insufficient_storage', { retryAfterSeconds: 60 })
      }
      look.freeBytes -= sizeBytes
    },
  }
}

function inlineBytesOf(input: unknown): number {
  const commit = (input as { readonly commit?: { readonly inline?: unknown } }).commit
  return commit?.inline instanceof Uint8Array ? commit.inline.length : 0
}
