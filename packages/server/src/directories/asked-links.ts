import type { Block, PathEntry } from '@lade/core/dag'
import type { AskedFile, StoredFile } from './find-files.ts'

const EMPTY = new Uint8Array()

/** One path of a directory that is asked for. */
export type AskedEntry = (AskedFile & { readonly kind: 'file' }) | Exclude<PathEntry, { readonly kind: 'file' }>

export interface AskedLinks {
  /** The entries as a directory links to them, in their order. */
  readonly links: readonly PathEntry[]
  /** The block that empty files among them are, which a folder has of its own. */
  readonly emptyBlocks: readonly Block[]
}

/** @param stored - all files among the entries, as `findFiles` found them. */
export function askedLinks(entries: readonly AskedEntry[], stored: ReadonlyMap<string, StoredFile>): AskedLinks {
  const emptyBlocks: Block[] = []
  const links = entries.map((entry): PathEntry => {
    if (entry.kind !== 'file') return entry
    const file = stored.get(entry.id.key)
    if (file === undefined) throw new TypeError(`${entry.id.text} was not looked for`)
    const { cid, dagBytes, sizeBytes, member } = file
    if (member === undefined && emptyBlocks.length === 0) emptyBlocks.push({ cid, bytes: EMPTY })
    return { kind: 'file', path: entry.path, cid, dagBytes, sizeBytes }
  })
  return { links, emptyBlocks }
}
