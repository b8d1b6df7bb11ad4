import { CID } from 'multiformats/cid'
import { DAG_PB, decodeDagPb, FIRST_LINKED_CODEC, IDENTITY, linkBytesOf, READABLE_CODECS } from '../links.ts'
import { type UnixfsNode, unixfsNodeOf } from '../unixfs-file.ts'
import { excessOf } from './block-limits.ts'
import { BytesTable } from './bytes-table.ts'
import { type CarFault, malformed } from './car-index.ts'
import { type BlockName, type CidAtHead, cidText, readCidAtHead } from './cid-at.ts'
import { hasDigestLength, MAX_DIGEST_BYTES } from './digest-length.ts'
import { growingFloat64, growingUint8, growingUint32 } from './growing-array.ts'

/** The most links that the blocks of one CAR may have in all. */
export const MAX_LINKS = 2 ** 20
/** The most inline links in one CAR: they take so few bytes that the others' limit allows too much work for a small CAR. */
const MAX_INLINE_LINKS = 2 ** 16
/** Room for the multihashes of that many links; inline ones can be longer, so that they are counted by bytes too. */
const MAX_MULTIHASH_BYTES = 48 * 1024 * 1024

/** What each takes beside the bytes of multihashes, in the arrays below. */
const BYTES_PER_MULTIHASH = 24
const BYTES_PER_NODE = 18
const BYTES_PER_LINK = 12

/** What a block is in UnixFS: a part of a file, of which `brokenFile` contradicts itself, or of a directory, such as a shard. */
export type PartKind = 'none' | 'file' | 'brokenFile' | 'directory'

const PART_KINDS: readonly PartKind[] = ['none', 'file', 'brokenFile', 'directory']
/** The number of no node; real ones begin at 1. */
const NO_NODE = 0
/** A link is one number: that of its multihash, then a bit for CIDs of version 0, then three bits for the codec. */
const VERSION_0_BIT = 8
const LINK_SPAN = 16

/**
 * Blocks and the links between them, as numbers in a few growing arrays: no object for a block, none for a link.
 *
 * One multihash can be several nodes, one for each codec that its bytes were decoded as: a block that came under the codec
 * raw is not what a dag-pb link to its multihash asks for, since nobody has looked for links in it. Links of the codecs
 * without links ask for the bytes alone. Identity CIDs are nodes as soon as they are linked to.
 */
export class BlockGraph {
  readonly #isChecked: (hashCode: number) => boolean
  readonly #maxLinks: number
  readonly #multihashes = new BytesTable()
  // By the number of a multihash.
  readonly #firstNode = growingUint32()
  readonly #sizeBytes = growingUint32()
  // By the number of a node.
  readonly #codec = growingUint8()
  readonly #nextNode = growingUint32()
  readonly #linksEnd = growingUint32()
  readonly #partKind = growingUint8()
  readonly #partSizeBytes = growingFloat64()
  // By the number of a link; those of a node are consecutive.
  readonly #links = growingUint32()
  readonly #announcedSizeBytes = growingFloat64()
  #inlineLinks = 0

  /**
   * @param options.isChecked - which hashes are verified here, by their multicodec; identity always is.
   * @param options.maxLinks - the most links of all blocks together.
   */
  constructor({
    isChecked,
    maxLinks,
  }: { readonly isChecked: (hashCode: number) => boolean; readonly maxLinks: number }) {
    this.#isChecked = isChecked
    this.#maxLinks = maxLinks
    // Node 0 stands for none, so that a 0 in #firstNode and #nextNode is the end of a chain.
    this.#pushNode({ codecPlace: 0, nextNode: NO_NODE, unixfs: undefined })
  }

  /** About how much memory it takes. */
  get heldBytes(): number {
    const { size, sizeBytes } = this.#multihashes
    return (
      sizeBytes + size * BYTES_PER_MULTIHASH + this.nodeCount * BYTES_PER_NODE + this.#links.length * BYTES_PER_LINK
    )
  }

  /** Gives its memory back. It is not to be used afterwards. */
  free(): void {
    this.#multihashes.free()
    for (const values of [this.#firstNode, this.#sizeBytes, this.#nextNode, this.#linksEnd, this.#links]) values.free()
    for (const values of [this.#codec, this.#partKind, this.#partSizeBytes, this.#announcedSizeBytes]) values.free()
  }

  /** How many nodes there are, with the one that stands for none. */
  get nodeCount(): number {
    return this.#codec.length
  }

  /** True when bytes of this multihash have been added. */
  has(multihash: Uint8Array): boolean {
    const number = this.#multihashes.find(multihash)
    return number !== undefined && this.#firstNode.at(number) !== NO_NODE
  }

  /** Adds a block whose bytes are verified; one that is there already changes nothing. */
  add(name: BlockName, bytes: Uint8Array): CarFault | undefined {
    const codecPlace = READABLE_CODECS.indexOf(name.codec)
    const text = () => `The block ${cidText(name)}`
    if (codecPlace < 0) return malformed(`${text()} has the unsupported codec ${hex(name.codec)}.`)
    const number = this.#numberOf(name.multihash)
    if (this.#nodeAs(number, codecPlace) !== NO_NODE) return undefined
    const excess = excessOf(name.codec, bytes)
    if (excess !== undefined) return malformed(`${text()} ${excess}.`)
    const content = readContent(name.codec, bytes)
    if (content === undefined) return malformed(`${text()} does not decode as the codec of its CID.`)
    const { links, unixfs } = content
    for (const link of links) {
      const fault = this.#admit(nameOf(link), name)
      if (fault !== undefined) return fault
    }
    this.#sizeBytes.set(number, bytes.length)
    for (const [index, link] of links.entries()) {
      this.#links.push(this.linkTo(nameOf(link)))
      this.#announcedSizeBytes.push((unixfs?.kind === 'file' && unixfs.children[index]?.sizeBytes) || 0)
    }
    this.#firstNode.set(number, this.#pushNode({ codecPlace, nextNode: this.#firstNode.at(number), unixfs }))
    const isTooMuch = this.#links.length > this.#maxLinks || this.#multihashes.sizeBytes > MAX_MULTIHASH_BYTES
    return isTooMuch ? malformed(`The blocks of the CAR have more than ${this.#maxLinks} links.`) : undefined
  }

  /** The number of a link. Its codec has to be one that is read here. */
  linkTo({ version, codec, multihash }: BlockName): number {
    const versionBit = version === 0 ? VERSION_0_BIT : 0
    return this.#numberOf(multihash) * LINK_SPAN + versionBit + READABLE_CODECS.indexOf(codec)
  }

  /** The node that a link leads to; undefined when it is not there. */
  target(link: number): number | undefined {
    const number = Math.floor(link / LINK_SPAN)
    const codecPlace = link % VERSION_0_BIT
    const node = codecPlace < FIRST_LINKED_CODEC ? this.#firstNode.at(number) : this.#nodeAs(number, codecPlace)
    return node === NO_NODE ? undefined : node
  }

  /** The links of a node, in order: their places, for `linkAt` and `announcedSizeAt`. */
  placesOfLinks(node: number): { readonly start: number; readonly end: number } {
    return { start: this.#linksEnd.at(node - 1), end: this.#linksEnd.at(node) }
  }

  linkAt(place: number): number {
    return this.#links.at(place)
  }

  /** The size that a file node announces for the part that a link of it leads to. */
  announcedSizeAt(place: number): number {
    return this.#announcedSizeBytes.at(place)
  }

  /** The codec that a link decodes its target as. */
  codecOf(link: number): number {
    return READABLE_CODECS[link % VERSION_0_BIT] ?? 0
  }

  /** What a node is in UnixFS, and, of a part of a file, the size that it announces for itself and all under it. */
  partOf(node: number): { readonly kind: PartKind; readonly sizeBytes: number } {
    return { kind: PART_KINDS[this.#partKind.at(node)] ?? 'none', sizeBytes: this.#partSizeBytes.at(node) }
  }

  /** How many bytes the block has that a link leads to. */
  sizeOf(link: number): number {
    return this.#sizeBytes.at(Math.floor(link / LINK_SPAN))
  }

  /** The multihash that a link names, as a view that is good until the next block is added. */
  multihashOf(link: number): Uint8Array<ArrayBuffer> {
    return this.#multihashes.bytesOf(Math.floor(link / LINK_SPAN))
  }

  /** A link as it was written. */
  textOf(link: number): string {
    const version = link % LINK_SPAN >= VERSION_0_BIT ? 0 : 1
    return cidText({ version, codec: this.codecOf(link), multihash: this.multihashOf(link) })
  }

  /** Refuses a link that nothing could ever satisfy here, and adds the block that an identity CID carries. */
  #admit(link: CidAtHead, from: BlockName): CarFault | undefined {
    const { codec, hashCode, digest } = link
    const fromText = () => `The block ${cidText(from)} links to`
    // Before the CID is written out: it can be as long as the block, and base58 takes the square of that in time.
    if (digest.length > MAX_DIGEST_BYTES)
      return malformed(`${fromText()} a CID whose digest has ${digest.length} bytes.`)
    const refuse = (reason: string) => malformed(`${fromText()} ${cidText(link)}, whose ${reason}.`)
    if (!READABLE_CODECS.includes(codec)) return refuse(`codec ${hex(codec)} is not supported`)
    if (hashCode !== IDENTITY && !this.#isChecked(hashCode)) return refuse(`hash ${hex(hashCode)} is not supported`)
    if (!hasDigestLength(hashCode, digest)) return refuse(`digest has ${digest.length} bytes`)
    if (hashCode !== IDENTITY) return undefined
    this.#inlineLinks += 1
    if (this.#inlineLinks > MAX_INLINE_LINKS)
      return malformed(`The blocks of the CAR have more than ${MAX_INLINE_LINKS} inline links.`)
    return this.add(link, digest)
  }

  #numberOf(multihash: Uint8Array): number {
    const number = this.#multihashes.numberOf(multihash)
    if (number === this.#firstNode.length) {
      this.#firstNode.push(NO_NODE)
      this.#sizeBytes.push(0)
    }
    return number
  }

  #nodeAs(number: number, codecPlace: number): number {
    let node = this.#firstNode.at(number)
    while (node !== NO_NODE && this.#codec.at(node) !== codecPlace) node = this.#nextNode.at(node)
    return node
  }

  #pushNode({ codecPlace, nextNode, unixfs }: NewNode): number {
    this.#codec.push(codecPlace)
    this.#nextNode.push(nextNode)
    this.#linksEnd.push(this.#links.length)
    this.#partKind.push(PART_KINDS.indexOf(partKindOf(unixfs)))
    this.#partSizeBytes.push(unixfs?.kind === 'file' ? unixfs.sizeBytes : 0)
    return this.#codec.length - 1
  }
}

interface NewNode {
  readonly codecPlace: number
  /** The node of the same multihash that was added before it. */
  readonly nextNode: number
  readonly unixfs: UnixfsNode | undefined
}

function partKindOf(unixfs: UnixfsNode | undefined): PartKind {
  if (unixfs?.kind === 'fault') return unixfs.of === 'file' ? 'brokenFile' : 'none'
  if (unixfs?.kind === 'directory' || unixfs?.kind === 'hamt') return 'directory'
  return unixfs?.kind === 'file' ? 'file' : 'none'
}

/** What a block says: its links as the bytes of CIDs, since a CAR may have a million of them. */
function readContent(codec: number, bytes: Uint8Array) {
  if (codec === DAG_PB) {
    const node = decodeDagPb(bytes)
    return node && { links: node.Links.map(({ Hash }) => Hash.bytes), unixfs: unixfsNodeOf(node) }
  }
  const read = linkBytesOf(codec, bytes)
  return 'links' in read ? { links: read.links, unixfs: undefined } : undefined
}

/** A link by its parts. CIDs of version 0 with a digest of another length can be written, and are refused for that. */
function nameOf(link: Uint8Array): CidAtHead {
  const name = readCidAtHead(link)
  if (name !== undefined) return name
  const { version, code, multihash } = CID.decode(link)
  const { bytes, digest } = multihash
  return { version, codec: code, hashCode: multihash.code, multihash: bytes, digest, endBytes: link.length }
}

function hex(code: number): string {
  return `0x${code.toString(16)}`
}
