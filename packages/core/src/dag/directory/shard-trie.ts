import { murmur3x64 } from '../car/murmur3.ts'
import { bucketAt, levelsOf } from '../car/shard-bucket.ts'
import type { BlockList } from './block-list.ts'
import type { DagRoot, DirectoryLink } from './directory-link.ts'
import { encodeShard, entryLink, FANOUT, type ShardLink, shardLink } from './encode-directory.ts'
import { refusal, shown } from './entry-path.ts'

/** An entry and the hash of its name. */
export interface PlacedLink {
  readonly hash: bigint
  readonly link: DirectoryLink
}

/** The link and the hash of its name. */
export function placedLink(link: DirectoryLink): PlacedLink {
  return { hash: murmur3x64(link.nameBytes), link }
}

/** A shard that is not in memory, and where it is. */
export interface UnreadShard {
  readonly shard: DagRoot
  readonly place: ShardPlace
}

/** What a bucket holds. */
export type Slot = PlacedLink | ShardTrie | { readonly unread: DagRoot }

/** Reads a shard that is not in memory yet. */
export type ReadShard = (shard: DagRoot, place: ShardPlace) => Promise<ShardTrie>

/** Where a shard is: how far below the root, and the bits that all hashes in it begin with. */
export interface ShardPlace {
  readonly level: number
  readonly prefix: bigint
}

/** Where the root of a sharded directory is. */
export const ROOT_PLACE: ShardPlace = { level: 0, prefix: 0n }

/**
 * A shard of a directory and the shards below it. Some of them may be unread.
 *
 * A shard below the root has at least two entries: when one is left, it takes the place of the shard. So the trie depends on its entries
 * alone, and not on their history.
 */
export class ShardTrie {
  readonly #place: ShardPlace
  readonly #slots: (Slot | undefined)[]

  /** @param slots - one for each bucket, or fewer. */
  constructor(place: ShardPlace, slots: (Slot | undefined)[] = []) {
    this.#place = place
    this.#slots = slots
  }

  /** The trie of these entries. */
  static of(links: readonly DirectoryLink[]): ShardTrie {
    const trie = new ShardTrie(ROOT_PLACE)
    for (const link of links) trie.put(placedLink(link))
    return trie
  }

  /** Reads the shards on the path of a hash. The other methods need the path of their name open. */
  async open(hash: bigint, read: ReadShard): Promise<void> {
    const bucket = this.#bucketOf(hash)
    let slot = this.#slots[bucket]
    if (slot === undefined || 'link' in slot) return
    if ('unread' in slot) {
      slot = await read(slot.unread, this.#placeOf(bucket))
      this.#slots[bucket] = slot
    }
    await slot.open(hash, read)
  }

  /** The entry of a name. */
  get(name: string, hash: bigint): DirectoryLink | undefined {
    const slot = this.#openSlot(this.#bucketOf(hash))
    if (slot === undefined) return undefined
    if (slot instanceof ShardTrie) return slot.get(name, hash)
    return slot.link.name === name ? slot.link : undefined
  }

  /**
   * Puts an entry in place of the one of this name.
   *
   * @throws {LadeError} `bad_request` when another name has the same hash.
   */
  put(placed: PlacedLink): void {
    const bucket = this.#bucketOf(placed.hash)
    const slot = this.#openSlot(bucket)
    if (slot instanceof ShardTrie) {
      slot.put(placed)
    } else if (slot === undefined || slot.link.name === placed.link.name) {
      this.#slots[bucket] = placed
    } else {
      const shard = new ShardTrie(this.#shardPlace(bucket, slot, placed))
      shard.put(slot)
      shard.put(placed)
      this.#slots[bucket] = shard
    }
  }

  /** Removes the entry of a name, if there is one. */
  remove(name: string, hash: bigint): void {
    const bucket = this.#bucketOf(hash)
    const slot = this.#openSlot(bucket)
    if (slot instanceof ShardTrie) {
      slot.remove(name, hash)
      this.#slots[bucket] = slot.#onlyEntry() ?? slot
    } else if (slot?.link.name === name) {
      this.#slots[bucket] = undefined
    }
  }

  /** The entries in memory. */
  *links(): Generator<DirectoryLink, void, undefined> {
    for (const slot of this.#slots) {
      if (slot instanceof ShardTrie) yield* slot.links()
      else if (slot !== undefined && 'link' in slot) yield slot.link
    }
  }

  /** The shards that are not in memory. */
  *unreadShards(): Generator<UnreadShard, void, undefined> {
    for (const [bucket, slot] of this.#slots.entries()) {
      if (slot instanceof ShardTrie) yield* slot.unreadShards()
      else if (slot !== undefined && 'unread' in slot) yield { shard: slot.unread, place: this.#placeOf(bucket) }
    }
  }

  /** Makes the blocks of all shards in memory. */
  encode(made: BlockList): DagRoot {
    const links: ShardLink[] = []
    this.#slots.forEach((slot, bucket) => {
      if (slot instanceof ShardTrie) links.push(shardLink(bucket, slot.encode(made)))
      else if (slot !== undefined && 'unread' in slot) links.push(shardLink(bucket, slot.unread))
      else if (slot !== undefined) links.push(entryLink(bucket, slot.link))
    })
    return made.add(encodeShard(links), links)
  }

  /** What takes the place of this shard in the one above: its last entry, where no other is below it. */
  #onlyEntry(): PlacedLink | undefined {
    const slots = this.#slots.filter((slot) => slot !== undefined)
    const [slot] = slots
    return slots.length === 1 && slot !== undefined && 'link' in slot ? slot : undefined
  }

  #bucketOf(hash: bigint): number {
    return bucketAt(hash, FANOUT, this.#place.level)
  }

  #openSlot(bucket: number): PlacedLink | ShardTrie | undefined {
    const slot = this.#slots[bucket]
    if (slot !== undefined && 'unread' in slot) throw new TypeError('The path of this name is not open')
    return slot
  }

  #placeOf(bucket: number): ShardPlace {
    const { level, prefix } = this.#place
    return { level: level + 1, prefix: prefix * BigInt(FANOUT) + BigInt(bucket) }
  }

  /** The place of a shard for two entries of one bucket. */
  #shardPlace(bucket: number, one: PlacedLink, other: PlacedLink): ShardPlace {
    const place = this.#placeOf(bucket)
    if (place.level < levelsOf(FANOUT)) return place
    const names = `${shown(one.link.name)} and ${shown(other.link.name)}`
    throw refusal(`The names ${names} have the same hash, so one large folder cannot have both. Rename one.`)
  }
}
