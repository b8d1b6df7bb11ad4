import type { PutEntry } from '@lade/client'

/** By path: what tells two states of an entry apart. */
export type DeployedFiles = Readonly<Record<string, string>>

/** What differs between two deploys, in paths. */
export interface ChangedPaths {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** How many are as they were. */
  readonly same: number
}

/** @returns an object without a prototype, since paths are its keys. */
export function filesOf(entries: readonly PutEntry[]): DeployedFiles {
  const files: Record<string, string> = Object.create(null)
  for (const entry of entries) files[entry.path] = stateOf(entry)
  return files
}

/**
 * Compares a deploy with the one before it; without one, everything is new.
 *
 * @example
 * changesOf({ a: 'bafk1' }, [{ kind: 'file', path: 'a', cid: 'bafk2', sizeBytes: 1 }]).changed // ['a']
 */
export function changesOf(before: DeployedFiles = {}, entries: readonly PutEntry[]): ChangedPaths {
  const now = filesOf(entries)
  const added: string[] = []
  const changed: string[] = []
  let same = 0
  for (const path of Object.keys(now).sort()) {
    if (!Object.hasOwn(before, path)) added.push(path)
    else if (before[path] === now[path]) same += 1
    else changed.push(path)
  }
  const removed = Object.keys(before)
    .filter((path) => !Object.hasOwn(now, path))
    .sort()
  return { added, changed, removed, same }
}

function stateOf(entry: PutEntry): string {
  if (entry.kind === 'file') return entry.cid
  return entry.kind === 'folder' ? 'folder' : `symlink ${entry.target}`
}
