import { type DirectoryEntry, walkDirectory } from '@lade/core/dag'
import type { DagReader } from '../retrieval/dag-reader.ts'
import type { FolderResource } from './gateway-resource.ts'
import { readRefusal } from './read-refusal.ts'

/** A page ends after as many entries, or as many characters of names. */
const PAGE_ENTRIES = 1000
const PAGE_CHARACTERS = 256 * 1024
/** No file system has longer names. Longer ones are left out. */
const MAX_NAME_CHARACTERS = 4096

/** A part of what a folder has. */
export interface FolderPage {
  readonly entries: readonly DirectoryEntry[]
  /** The name that the next page begins behind; undefined on the last. */
  readonly next: string | undefined
}

/**
 * Lists a folder from a name on, a page at a time. What the entries lead to is not read, so that the time does not grow with their sizes;
 * nor with what comes before the page.
 *
 * Directories have their order. In a sharded one it is that of hashes, and each page is sorted by itself.
 *
 * @param reader - holds the request to its limits.
 * @param after - `next` of the page before. @default from the beginning
 * @throws {LadeError} `not_found`, `not_acceptable`, `blocked`, `over_budget`, `storage_failed`.
 */
export async function listFolder(
  reader: DagReader,
  { block }: FolderResource,
  after: string | undefined,
): Promise<FolderPage> {
  const entries: DirectoryEntry[] = []
  let characters = 0
  let last: string | undefined
  try {
    for await (const entry of walkDirectory({ root: block.cid, getBlock: reader, after })) {
      if (entry.name.length > MAX_NAME_CHARACTERS) continue
      if (entries.length >= PAGE_ENTRIES || characters >= PAGE_CHARACTERS)
        return { entries: sorted(entries), next: last }
      entries.push(entry)
      characters += entry.name.length
      last = entry.name
    }
  } catch (error) {
    throw readRefusal(error)
  }
  return { entries: sorted(entries), next: undefined }
}

/** By code units, as directories in one block are. */
function sorted(entries: readonly DirectoryEntry[]): DirectoryEntry[] {
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
}
