/**
 * What an object is called: its sha2-256, 64 lower-case hex digits; while that is not known, which happens only to objects
 * that were composed and not read, its piece key (`piece:<piece root>:<size>`). A handle changes at most once, from the
 * second to the first.
 */
export type ObjectHandle = string

/**
 * How an object answers to a key. `bytes`: the object's bytes are what the key names. `unixfs`: the object is a CAR, and
 * the key names the UnixFS file inside it. `car`: the object is a CAR whose root the key names, and the CAR itself is
 * what is given back.
 */
export type ContentView = 'bytes' | 'unixfs' | 'car'

/** The same where a file is served; `inside`: the object is a CAR, and the key names a block in it that is not its root. */
export type ServedView = ContentView | 'inside'

/** A name of an object that cannot be told from its sha2-256 or its piece root; known since somebody verified it. */
export interface ContentAlias {
  /** `blake3:`, `blake2b-256:`, `dag-pb:`, or `sha256:` of the root block of a CAR. */
  readonly key: string
  readonly view: ContentView
}

/** A file's blocks under an import profile, by their digests alone. */
export interface ImportCommit {
  readonly kind: 'import'
  /** The name of the profile, such as `unixfs-v1-2025`; never `car`. */
  readonly profile: string
  /** The sha2-256 of every block, 32 bytes each: the leaves, then each level above them, the root last. */
  readonly digests: Uint8Array
}

/** Where the blocks of a CAR lie in it; each of the last three lists has one number for every block. */
export interface CarCommit {
  readonly kind: 'car'
  /** The multihashes of the blocks, end to end. */
  readonly multihashes: Uint8Array
  /** Where the multihash of the block ends in `multihashes`. */
  readonly multihashEnds: Uint32Array
  /** Where the bytes of the block begin in the object. */
  readonly offsetBytes: Float64Array
  /** How many bytes the block has. */
  readonly sizeBytes: Uint32Array
}

/** The blocks that can be made from an object's bytes, or cut out of them. Lists that do not fit together are a `TypeError`. */
export type DagCommit = ImportCommit | CarCommit

/** What verification learned about an object, to be kept with it. */
export interface ContentFacts {
  /** The root of the piece tree, 64 lower-case hex digits. */
  readonly pieceRoot: string
  /** The roots of the piece tree's subtrees, 32 bytes each; empty when there is only one. */
  readonly pieceSubtreeRoots: Uint8Array
  readonly aliases: readonly ContentAlias[]
  readonly dags: readonly DagCommit[]
}

/** An object as a Filecoin piece. */
export interface ObjectPiece {
  readonly object: ObjectHandle
  /** The size before any padding. */
  readonly sizeBytes: number
  /** The root of the piece tree, 64 lower-case hex digits. */
  readonly pieceRoot: string
}

/** The piece commitments of objects. */
export interface ContentRecords {
  /**
   * The pieces of the objects that the keys name, in the order of the keys, where the caller may see them: somebody's
   * live file is public, or one of the caller's own is live. Undefined for every other key, and for an object whose
   * piece was never computed.
   */
  pieces(request: {
    keys: readonly string[]
    now: number
    principal?: string
  }): Promise<readonly (ObjectPiece | undefined)[]>
}

/**
 * Where the bytes of a block come from. `object`: they are all bytes of the object. `node`: the block of this number in
 * the import of the object under `profile`, made again from the object's bytes and the digests of `dag`. `slice`: a part
 * of the object, which is a CAR.
 *
 * `sizeBytes` is the object's.
 */
export type BlockPlace =
  | { readonly kind: 'object'; readonly object: ObjectHandle; readonly sizeBytes: number }
  | {
      readonly kind: 'node'
      readonly dag: number
      readonly profile: string
      readonly node: number
      readonly object: ObjectHandle
      readonly sizeBytes: number
    }
  | {
      readonly kind: 'slice'
      readonly object: ObjectHandle
      readonly sizeBytes: number
      readonly offsetBytes: number
      readonly lengthBytes: number
    }

/** Which block is looked for, and where. */
export interface FindBlockRequest {
  /** The whole multihash, as in the CID; blocks of different hashes are never confused. */
  readonly multihash: Uint8Array
  readonly now: number
  /** The one object to look in, public or not. */
  readonly within?: ObjectHandle | undefined
  /** True where that is the object of a folder, whose members are looked in as well. @default false */
  readonly hasMembers?: boolean | undefined
}

/** The blocks of objects that are being kept. They are forgotten with the bytes, and learned again with the next staging. */
export interface BlockRecords {
  /**
   * A block of an object that has a live public file, or of the object `within`, whose bytes the caller may see already.
   *
   * Whole objects are preferred to parts, whatever their size: that a block may be no bigger than 2 MiB is for the caller
   * to keep. Of several parts it is one of the longest known dag.
   *
   */
  find(request: FindBlockRequest): Promise<BlockPlace | undefined>
  /**
   * Digests of an import's blocks, 32 bytes each, from the block number `from` on: `count` of them, or as many as there
   * are. Undefined for a dag that is not known any more, and for a CAR. The number of a dag is never used again.
   */
  digests(request: { dag: number; from: number; count: number }): Promise<Uint8Array | undefined>
  /**
   * Removes what is left of the blocks of objects whose bytes are gone, at most `limit` rows; answers how many. They are
   * found no more since the bytes went, whether swept or not.
   */
  sweep(request: { limit: number }): Promise<number>
}
