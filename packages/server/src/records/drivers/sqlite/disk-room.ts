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
  'quotas.commitTogether',
  'compositions.commit',
])

interface Commit {
  readonly inline?: Uint8Array
}

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
      const sizeBytes = roomFor(input)
      if (!look.hasInodes || look.freeBytes - sizeBytes < minFreeBytes) {
        throw new LadeError('insufficient_storage', { retryAfterSeconds: 60 })
      }
      look.freeBytes -= sizeBytes
    },
  }
}

/** What the files of a write take at most; a write without files takes the row of one. */
function roomFor(input: unknown): number {
  const { commit, commits = [commit] } = input as { readonly commit?: Commit; readonly commits?: readonly Commit[] }
  return commits.reduce((sum, each) => sum + ROW_BYTES + (each?.inline?.length ?? 0), 0)
}
