import type { CID } from 'multiformats/cid'
import { type BlockReader, readerOf } from './block-reader.ts'
import { linkAt } from './link-list.ts'
import type { GetBlock } from './load-block.ts'
import { OpenBlocks } from './open-blocks.ts'
import { nodeBytes, type PackedNode } from './packed-node.ts'
import { type DirectoryNode, isShardAt, nameAt, readDirectory } from './walk-directory.ts'

/** Something in a tree of UnixFS directories. */
export interface TreeEntry {
  /** The names that lead to it, none for the root. They are as the directories have them, and may be `..` or have a slash in them. */
  readonly names: readonly string[]
  readonly cid: CID
  readonly node: PackedNode
}

/**
 * Goes through a tree of UnixFS directories depth first: the root, and each directory before what is in it. Bytes of files are not read.
 *
 * A directory that the tree has twice is walked twice: a `BlockReader` can end a walk that has no end. Memory is the names that lead to the
 * current entry, and of the directories above it 1 MiB.
 *
 * @throws {DagReadError} from the generator, at the first block that is missing or cannot be read.
 */
export async function* walkTree(
  root: CID,
  getBlock: GetBlock | BlockReader,
): AsyncGenerator<TreeEntry, void, undefined> {
  const reader = readerOf(getBlock)
  const open = new OpenBlocks<DirectoryNode>((cid) => readDirectory(reader, cid))
  const push = (cid: CID, node: DirectoryNode, names: readonly string[]): void =>
    open.push({
      cid,
      content: node,
      sizeBytes: nodeBytes(node),
      count: node.links.ends.length,
      next: 0,
      offset: 0,
      names,
    })
  let entry: { readonly names: readonly string[]; readonly cid: CID } | undefined = { names: [], cid: root }
  while (true) {
    if (entry !== undefined) {
      const { names, cid }: Pick<TreeEntry, 'names' | 'cid'> = entry
      const { answer: node } = await reader.read(cid, { ask: 'node' })
      yield { names, cid, node }
      if (node.kind === 'directory' || node.kind === 'hamt') push(cid, node, names)
      entry = undefined
    }
    const last = await open.last()
    if (last === undefined) return
    const { content: node, block } = last
    const { names = [], next: place } = block
    block.next += 1
    await reader.follow()
    const cid = linkAt(node.links, place)
    if (!isShardAt(node, place)) entry = { names: [...names, nameAt(node, place)], cid }
    else push(cid, await readDirectory(reader, cid, node.kind === 'hamt' ? node.fanout : undefined), names)
  }
}
