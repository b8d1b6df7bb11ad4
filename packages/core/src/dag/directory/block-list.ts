import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { BytesTable } from '../car/bytes-table.ts'
import type { Block } from '../car/load-block.ts'
import type { Sha256 } from '../sha256.ts'
import type { DagRoot } from './directory-link.ts'
import { refusal } from './entry-path.ts'

const DAG_PB = 0x70
const SHA2_256 = 0x12

/** The blocks that are made for a directory, each once, and after those that it links to. */
export class BlockList {
  readonly blocks: Block[] = []
  readonly #sha256: Sha256
  readonly #known = new BytesTable()

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
  }

  /** Leaves out a block that the caller has already. */
  leaveOut({ multihash }: CID): void {
    if (multihash.code === SHA2_256) this.#known.numberOf(multihash.digest)
  }

  /**
   * Adds a block, unless it is there.
   *
   * @param links - what it links to.
   * @throws {LadeError} `bad_request` for a DAG of more than 2^53 bytes.
   */
  add(bytes: Uint8Array, links: readonly DagRoot[]): DagRoot {
    const dagBytes = links.reduce((sum, link) => sum + link.dagBytes, bytes.length)
    if (!Number.isSafeInteger(dagBytes)) throw refusal('The files of the directory have more than 2^53 bytes in all.')
    const digest = this.#sha256.of(bytes)
    const knownBefore = this.#known.size
    const cid = CID.createV1(DAG_PB, createDigest(SHA2_256, digest))
    if (this.#known.numberOf(digest) === knownBefore) this.blocks.push({ cid, bytes })
    return { cid, dagBytes }
  }
}
