import type { PBLink } from '@ipld/dag-pb'
import type { CID } from 'multiformats/cid'
import { excessOf } from '../car/block-limits.ts'
import { isEqual } from '../car/bytes-table.ts'
import { DagReadError } from '../car/dag-read-error.ts'
import { levelsOf } from '../car/shard-bucket.ts'
import { DAG_PB, decodeDagPb } from '../links.ts'
import { unixfsNodeOf } from '../unixfs-file.ts'
import { type DirectoryLink, directoryLink } from './directory-link.ts'
import { encodeDirectory, encodeShard, entryLink, FANOUT, type ShardLink, shardLink } from './encode-directory.ts'
import { refusal } from './entry-path.ts'
import { readPlainDirectory } from './plain-directory.ts'
import { placedLink, ROOT_PLACE, type ShardPlace, ShardTrie, type Slot } from './shard-trie.ts'

/** A directory that can be changed: all its entries, or the root of its trie. Undefined for anything that is no directory. */
export type ReadDirectory =
  | { readonly kind: 'plain'; readonly links: readonly DirectoryLink[]; readonly dagBytes: number }
  | { readonly kind: 'sharded'; readonly trie: ShardTrie; readonly dagBytes: number }
  | undefined

/**
 * Reads the block of a directory, to change the directory.
 *
 * Writing the block again must give the same bytes. Otherwise an entry that does not change could: one whose name is not UTF-8, or which has
 * no Tsize. The links of a directory that is not sharded may be in any order, as the specification says.
 *
 * @throws {DagReadError} `undecodable`, `excessive`, `inconsistent`.
 * @throws {LadeError} `bad_request` for a directory in a form that is not written here.
 * @see https://specs.ipfs.tech/unixfs/#dag-pb-directory-link-ordering
 */
export function readDirectory(cid: CID, bytes: Uint8Array): ReadDirectory {
  if (cid.code !== DAG_PB) return undefined
  checkExcess(cid, bytes)
  const plain = readPlainDirectory(bytes)
  if (plain !== undefined) {
    return { kind: 'plain', links: plain, dagBytes: plain.reduce((sum, link) => sum + link.dagBytes, bytes.length) }
  }
  const { kind, links } = readNode(cid, bytes)
  const dagBytes = links.reduce((sum, { Tsize = 0 }) => sum + Tsize, bytes.length)
  if (kind === 'hamt') return { kind: 'sharded', trie: trieOf(cid, { bytes, links, place: ROOT_PLACE }), dagBytes }
  if (kind !== 'directory') return undefined
  const named = links.map((link) => directoryLink(link.Name ?? '', rootOf(link)))
  if (!isEqual(encodeDirectory(named), bytes)) throw otherForm(cid)
  return { kind: 'plain', links: named, dagBytes }
}

/**
 * Reads the block of a shard below the root.
 *
 * Every name must belong in its bucket, and a shard must hold two entries, so that a shard cannot be one that is above it.
 *
 * @throws as `readDirectory`.
 */
export function readShard(cid: CID, bytes: Uint8Array, place: ShardPlace): ShardTrie {
  if (cid.code !== DAG_PB || place.level >= levelsOf(FANOUT)) throw new DagReadError('inconsistent', cid)
  checkExcess(cid, bytes)
  const { kind, links } = readNode(cid, bytes)
  if (kind !== 'hamt') throw new DagReadError('inconsistent', cid)
  return trieOf(cid, { bytes, links, place })
}

/** Keeps what would take too long from being decoded. */
function checkExcess(cid: CID, bytes: Uint8Array): void {
  if (excessOf(cid.code, bytes) !== undefined) throw new DagReadError('excessive', cid)
}

function readNode(cid: CID, bytes: Uint8Array): { readonly kind: string; readonly links: readonly PBLink[] } {
  const node = decodeDagPb(bytes)
  if (node === undefined) throw new DagReadError('undecodable', cid)
  const { kind } = unixfsNodeOf(node)
  if (kind === 'fault') throw new DagReadError('inconsistent', cid)
  return { kind, links: node.Links }
}

interface ShardBlock {
  readonly bytes: Uint8Array
  readonly links: readonly PBLink[]
  readonly place: ShardPlace
}

function trieOf(cid: CID, { bytes, links, place }: ShardBlock): ShardTrie {
  const slots: (Slot | undefined)[] = []
  const shardLinks: ShardLink[] = []
  const digits = (FANOUT - 1).toString(16).length
  for (const link of links) {
    const { Name: label = '' } = link
    const bucket = Number.parseInt(label.slice(0, digits), 16)
    const name = label.slice(digits)
    // A label that is none gives other bytes below.
    if (!(bucket >= 0)) throw otherForm(cid)
    if (name === '') {
      slots[bucket] = { unread: rootOf(link) }
      shardLinks.push(shardLink(bucket, rootOf(link)))
    } else {
      const placed = placedLink(directoryLink(name, rootOf(link)))
      if (placed.hash >> bitsBelow(place.level) !== place.prefix * BigInt(FANOUT) + BigInt(bucket)) {
        throw new DagReadError('inconsistent', cid)
      }
      slots[bucket] = placed
      shardLinks.push(entryLink(bucket, placed.link))
    }
  }
  const isTooSmall = shardLinks.length === 0 || (shardLinks.length === 1 && shardLinks[0]?.nameBytes !== undefined)
  if (place.level > 0 && isTooSmall) throw new DagReadError('inconsistent', cid)
  if (shardLinks.some(isOutOfOrder) || !isEqual(encodeShard(shardLinks), bytes)) throw otherForm(cid)
  return new ShardTrie(place, slots)
}

/** The bits of a hash that the shards up to a level do not use. */
function bitsBelow(level: number): bigint {
  return BigInt(64 - Math.log2(FANOUT) * (level + 1))
}

function isOutOfOrder({ bucket }: ShardLink, index: number, links: readonly ShardLink[]): boolean {
  return index > 0 && bucket <= (links[index - 1]?.bucket ?? 0)
}

function rootOf({ Hash, Tsize = 0 }: PBLink): { readonly cid: CID; readonly dagBytes: number } {
  return { cid: Hash, dagBytes: Tsize }
}

function otherForm(cid: CID): Error {
  return refusal(
    `The directory block ${cid} is not as the import profile unixfs-v1-2025 writes it, so it cannot be changed. Build the directory again from its entries.`,
  )
}
