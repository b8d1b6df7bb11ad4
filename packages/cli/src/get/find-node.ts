import type { FolderNode, LadeClient } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import { CID } from 'multiformats/cid'
import { UsageError } from '../usage-error.ts'

const DAG_PB = 0x70

/** What an id and a path lead to: a file by its id, or a folder and all that is below it. */
export type FoundNode =
  | { readonly kind: 'file'; readonly cid: string }
  | { readonly kind: 'folder'; readonly cid: string; readonly nodes: AsyncIterable<FolderNode> }

/**
 * Finds out whether an id is that of a folder. Ids that name no directory, and what is not stored block by block, are files.
 *
 * @throws {UsageError} for a path behind the id of a file, and for one that leads to a symlink.
 */
export async function findNode(
  client: LadeClient,
  { cid, path }: { readonly cid: string; readonly path?: string | undefined },
  signal: AbortSignal,
): Promise<FoundNode> {
  if (!isDagPb(cid)) {
    if (path !== undefined) throw new UsageError(`${cid} is a file, so there is no ${path} in it.`)
    return { kind: 'file', cid }
  }
  const nodes = client.readFolder(cid, { path, signal })[Symbol.asyncIterator]()
  let first: FolderNode | undefined
  try {
    first = (await nodes.next()).value as FolderNode | undefined
  } catch (error) {
    // A file that is not known by blocks, or whose blocks are another's to read, may still be there.
    const isUnknown = LadeError.has(error, 'not_found') || LadeError.has(error, 'unexpected_answer')
    if (path === undefined && isUnknown) return { kind: 'file', cid }
    throw error
  }
  if (first?.kind === 'folder')
    return { kind: 'folder', cid: first.cid, nodes: { [Symbol.asyncIterator]: () => nodes } }
  if (first?.kind === 'symlink')
    throw new UsageError(`${path} is a symbolic link to ${first.target}. Get that instead.`)
  return { kind: 'file', cid: first?.cid ?? cid }
}

function isDagPb(cid: string): boolean {
  try {
    return CID.parse(cid).code === DAG_PB
  } catch {
    return false
  }
}
