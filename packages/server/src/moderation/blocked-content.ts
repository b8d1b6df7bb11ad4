import type { ContentId } from '@lade/core/content'
import { type BlockedName, blockedNameOf, blockedNameOfMultihash, multihashOf } from '../records/blocked-name.ts'
import type { ContentFacts, FileRecord, ObjectHandle, RecordStore, TakedownReach } from '../records/record-store.ts'
import type { ContentBlock } from './content-block.ts'
import { ANY_CODEC, Denylist } from './denylist/denylist.ts'
import { turns } from './turns.ts'

/** Answers about objects that are remembered. */
const MAX_VERDICTS = 10_000
/** Where a multihash of 32 bytes differs from others of the same hash. */
const HEAD_OFFSET = 2
const HEAD_BYTES = 4
const SHA2_256 = Buffer.from('1220', 'hex')
const DIGEST_BYTES = 32

/** An upload whose bytes are all known, or a file that is to be composed. */
export interface CheckedUpload {
  /** Of the id that it was sent under. */
  readonly key: string
  /** Null while the whole was not read. */
  readonly sha256: string | null
  readonly sizeBytes: number
  readonly content: Pick<ContentFacts, 'pieceRoot' | 'aliases' | 'dags'>
}

/** What nobody may upload or read here, as this process knows it: takedowns of the records, and the rules of denylists. */
export class BlockedContent {
  readonly #records: Pick<RecordStore, 'takedowns'>
  readonly #reaches = new Map<number, TakedownReach>()
  readonly #names = new Map<BlockedName, number>()
  /** What multihashes begin with that are blocked: most others are told from them without being written out. */
  readonly #heads = new Set<number>()
  readonly #objects = new Map<ObjectHandle, { readonly takedown: number; readonly isWhole: boolean }>()
  readonly #served = new Map<ObjectHandle, Set<() => void>>()
  readonly #verdicts = new Map<ObjectHandle, ContentBlock | undefined>()
  #denylist = new Denylist()
  #takedownRevision = 0
  #changes = 0

  constructor(records: Pick<RecordStore, 'takedowns'>) {
    this.#records = records
  }

  /** Grows with every change: an answer that was made under another one may be wrong by now. */
  get changes(): number {
    return this.#changes
  }

  /** The revision of the takedowns that uploads are held against here. */
  get takedownRevision(): number {
    return this.#takedownRevision
  }

  /** Takedowns that hold. */
  get takedownCount(): number {
    return this.#reaches.size
  }

  /** True while the bytes of some object are taken down. */
  get hasTakenDownObjects(): boolean {
    return this.#objects.size > 0
  }

  /** Takes the changes of the records. What is being served and is blocked now is cut. */
  applyTakedowns(revision: number, changed: readonly TakedownReach[]): void {
    this.#takedownRevision = revision
    if (changed.length === 0) return
    for (const reach of changed) {
      const { id, liftedAt } = reach.takedown
      const isNew = !this.#reaches.has(id)
      if (liftedAt === null) this.#reaches.set(id, reach)
      else this.#reaches.delete(id)
      if (isNew && liftedAt === null) this.#index(reach)
      else this.#indexAll()
    }
    this.#changes += 1
    for (const [object, cuts] of this.#served) {
      if (this.#objects.has(object)) for (const cut of cuts) cut()
    }
  }

  useDenylist(denylist: Denylist): void {
    this.#denylist = denylist
    this.#verdicts.clear()
    this.#changes += 1
  }

  /** The block of an id, in whatever form. */
  ofId({ key, cid }: ContentId): ContentBlock | undefined {
    const name = blockedNameOf(key)
    return this.#ofName(name) ?? this.#denied(name, cid === undefined ? ANY_CODEC : [Number(cid.codec)])
  }

  /** The block of a block, or of a path below it, as a denylist may have one. @param codecs - those of the CIDs that it is known by. */
  ofMultihash(
    multihash: Uint8Array,
    { codecs = ANY_CODEC, path = [] }: { readonly codecs?: readonly number[]; readonly path?: readonly string[] } = {},
  ): ContentBlock | undefined {
    const own = this.#isSuspect(multihash) ? this.#ofName(blockedNameOfMultihash(multihash)) : undefined
    if (own !== undefined || this.#denylist.size === 0) return own
    const rule = this.#denylist.find({ multihash, codecs, path })
    return rule && { by: 'denylist', rule }
  }

  /** True for an object that is taken down itself. */
  isTakenDown(object: ObjectHandle): boolean {
    return this.#objects.get(object)?.isWhole === true
  }

  /** The takedown of an object, or of something in it. */
  ofObject(object: ObjectHandle): ContentBlock | undefined {
    return this.#takedownOf(this.#objects.get(object)?.takedown)
  }

  /** The block of a file's bytes under any of their names. @throws {LadeError} `storage_failed`. */
  async ofFile({ object }: Pick<FileRecord, 'object'>): Promise<ContentBlock | undefined> {
    const own = this.ofObject(object)
    if (own !== undefined || this.#denylist.size === 0) return own
    if (this.#verdicts.has(object)) return this.#verdicts.get(object)
    const changes = this.#changes
    const verdict = firstOf(await this.#records.takedowns.namesOf(object), (name) => this.#denied(name, ANY_CODEC))
    if (changes === this.#changes) this.#remember(object, verdict)
    return verdict
  }

  /** The block of an upload: of one of its names, of one of its blocks, or of a part. */
  async ofUpload(upload: CheckedUpload): Promise<ContentBlock | undefined> {
    if (this.#reaches.size === 0 && this.#denylist.size === 0) return undefined
    return (
      firstOf(namesOf(upload), (name) => this.#ofName(name) ?? this.#denied(name, ANY_CODEC)) ?? this.#ofBlocks(upload)
    )
  }

  /** Calls `cut` when an object that is being served is taken down; answers how to stop that. */
  whileServed(object: ObjectHandle, cut: () => void): () => void {
    const cuts = this.#served.get(object) ?? new Set()
    this.#served.set(object, cuts.add(cut))
    return () => {
      cuts.delete(cut)
      if (cuts.size === 0 && this.#served.get(object) === cuts) this.#served.delete(object)
    }
  }

  async #ofBlocks({ content }: CheckedUpload): Promise<ContentBlock | undefined> {
    const pause = turns()
    for (const multihash of multihashesIn(content)) {
      const block = this.ofMultihash(multihash)
      if (block !== undefined) return block
      const turn = pause()
      if (turn !== undefined) await turn
    }
    return undefined
  }

  #indexAll(): void {
    this.#names.clear()
    this.#heads.clear()
    this.#objects.clear()
    for (const reach of this.#reaches.values()) this.#index(reach)
  }

  #index({ takedown: { id }, names, objects }: TakedownReach): void {
    for (const name of names) {
      this.#names.set(name, id)
      const multihash = multihashOf(name)
      if (multihash !== undefined) this.#heads.add(headOf(multihash))
    }
    for (const { object, isWhole } of objects) {
      if (isWhole || !this.#objects.has(object)) this.#objects.set(object, { takedown: id, isWhole })
    }
  }

  #isSuspect(multihash: Uint8Array): boolean {
    return this.#heads.size > 0 && this.#heads.has(headOf(multihash))
  }

  #ofName(name: BlockedName): ContentBlock | undefined {
    return this.#takedownOf(this.#names.get(name))
  }

  #takedownOf(id: number | undefined): ContentBlock | undefined {
    const reach = id === undefined ? undefined : this.#reaches.get(id)
    return reach && { by: 'operator', takedown: reach.takedown }
  }

  #denied(name: BlockedName, codecs: readonly number[]): ContentBlock | undefined {
    if (this.#denylist.size === 0) return undefined
    const multihash = multihashOf(name)
    const rule = multihash && this.#denylist.find({ multihash, codecs })
    return rule && { by: 'denylist', rule }
  }

  #remember(object: ObjectHandle, verdict: ContentBlock | undefined): void {
    const [oldest] = this.#verdicts.keys()
    if (this.#verdicts.size >= MAX_VERDICTS && oldest !== undefined) this.#verdicts.delete(oldest)
    this.#verdicts.set(object, verdict)
  }
}

function firstOf(
  names: Iterable<BlockedName>,
  find: (name: BlockedName) => ContentBlock | undefined,
): ContentBlock | undefined {
  for (const name of names) {
    const block = find(name)
    if (block !== undefined) return block
  }
  return undefined
}

function namesOf({ key, sha256, sizeBytes, content }: CheckedUpload): BlockedName[] {
  const { pieceRoot, aliases } = content
  return [
    blockedNameOf(key),
    ...(sha256 === null ? [] : [blockedNameOf(`sha256:${sha256}`)]),
    `piece:${pieceRoot}:${sizeBytes}`,
    `piece-v1:${pieceRoot}`,
    ...aliases.map((alias) => blockedNameOf(alias.key)),
  ]
}

/** The multihashes of all blocks that lie in the bytes. */
function* multihashesIn({ dags }: CheckedUpload['content']): Generator<Uint8Array> {
  for (const dag of dags) {
    if (dag.kind === 'import') {
      for (let offset = 0; offset < dag.digests.length; offset += DIGEST_BYTES) {
        yield Buffer.concat([SHA2_256, dag.digests.subarray(offset, offset + DIGEST_BYTES)])
      }
      continue
    }
    let start = 0
    for (const end of dag.multihashEnds) {
      yield dag.multihashes.subarray(start, end)
      start = end
    }
  }
}

function headOf(multihash: Uint8Array): number {
  let head = 0
  for (let index = HEAD_OFFSET; index < HEAD_OFFSET + HEAD_BYTES; index += 1)
    head = head * 256 + (multihash[index] ?? 0)
  return head
}
