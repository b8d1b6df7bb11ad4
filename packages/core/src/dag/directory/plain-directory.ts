import { CID } from 'multiformats/cid'
import { readVarint } from '../car/varint.ts'
import { isUsualCid, ofOwnMemory } from '../links.ts'
import { LINK_HASH, LINK_NAME, LINK_TSIZE, NODE_DATA, NODE_LINKS, UNIXFS_TYPE } from '../unixfs-fields.ts'
import { utf8Text } from '../utf8.ts'
import type { DirectoryLink } from './directory-link.ts'

/** `Data` of a directory that is not sharded, with its field: the end of the block. */
const DIRECTORY_FIELD = [NODE_DATA, 2, UNIXFS_TYPE, 1] as const
/** The first byte of a byte order mark, and of U+FFFD, which stands for what is no UTF-8. */
const UNCERTAIN_FIRST_BYTE = 0xef
const UNCERTAIN_TEXT = '\uFFFD'

/** A link whose CID is made when it is asked for. */
class LinkInBlock implements DirectoryLink {
  readonly name: string
  readonly nameBytes: Uint8Array
  readonly dagBytes: number
  readonly #cidBytes: Uint8Array
  #cid: CID | undefined

  constructor(name: string, nameBytes: Uint8Array, cidBytes: Uint8Array, dagBytes: number) {
    this.name = name
    this.nameBytes = nameBytes
    this.dagBytes = dagBytes
    this.#cidBytes = cidBytes
  }

  get cid(): CID {
    this.#cid ??= CID.decode(this.#cidBytes)
    return this.#cid
  }
}

/**
 * Reads the links of a directory block that is exactly as `encodeDirectory` writes it. The CID of a link becomes an object when
 * it is asked for, since 38,000 of them take a twentieth of a second.
 *
 * @returns undefined for every other block, and for some with names or CIDs that are unusual.
 */
export function readPlainDirectory(bytes: Uint8Array): readonly DirectoryLink[] | undefined {
  const block = ofOwnMemory(bytes)
  const links: DirectoryLink[] = []
  let at = 0
  while (block[at] === NODE_LINKS) {
    const length = readVarint(block, at + 1)
    if (typeof length === 'string') return undefined
    const end = length.end + length.value
    const link = readLink(block, length.end, end)
    if (link === undefined) return undefined
    links.push(link)
    at = end
  }
  const isDirectory = DIRECTORY_FIELD.every((byte, index) => block[at + index] === byte)
  return isDirectory && block.length === at + DIRECTORY_FIELD.length ? links : undefined
}

/** The three fields of a link, in their order, each of them once. */
function readLink(block: Uint8Array, start: number, end: number): DirectoryLink | undefined {
  const cid = readBytes(block, start, LINK_HASH)
  if (cid === undefined || !isUsualCid(cid.bytes)) return undefined
  const name = readBytes(block, cid.end, LINK_NAME)
  if (name === undefined || name.bytes.includes(UNCERTAIN_FIRST_BYTE) || block[name.end] !== LINK_TSIZE)
    return undefined
  const size = readVarint(block, name.end + 1)
  if (typeof size === 'string' || size.end !== end || !Number.isSafeInteger(size.value)) return undefined
  const text = utf8Text(name.bytes)
  if (text.includes(UNCERTAIN_TEXT)) return undefined
  return new LinkInBlock(text, name.bytes, cid.bytes, size.value)
}

function readBytes(block: Uint8Array, at: number, field: number) {
  const length = block[at] === field ? readVarint(block, at + 1) : 'short'
  if (typeof length === 'string') return undefined
  const end = length.end + length.value
  return end > block.length ? undefined : { bytes: block.subarray(length.end, end), end }
}
