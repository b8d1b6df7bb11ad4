import type { CID } from 'multiformats/cid'
import { BytesTable } from './bytes-table.ts'
import { growingUint8 } from './growing-array.ts'
import { varintBytes } from './varint.ts'

/** The blocks that a walk has met, by codec and multihash, and whether it went through all that is under them. */
export class WalkedBlocks {
  readonly #blocks = new BytesTable()
  readonly #isWhole = growingUint8()

  /**
   * Notes that the walk has come to a block.
   *
   * @param isWhole - true when it is about to go through all that is under it.
   * @returns `isNew` when it is there for the first time, `isDone` when it has gone through all of it before.
   */
  meet({ code, multihash }: CID, isWhole: boolean): { readonly isNew: boolean; readonly isDone: boolean } {
    const codec = varintBytes(code)
    const name = new Uint8Array(codec.length + multihash.bytes.length)
    name.set(codec)
    name.set(multihash.bytes, codec.length)
    const number = this.#blocks.numberOf(name)
    const isNew = number === this.#isWhole.length
    if (isNew) this.#isWhole.push(0)
    const isDone = this.#isWhole.at(number) === 1
    if (isWhole) this.#isWhole.set(number, 1)
    return { isNew, isDone }
  }
}
