import { readFile } from 'node:fs/promises'
import { HOUR_MS } from '@lade/core/time'
import { hasCode } from '@lade/node/disk/durable-directory'
import * as z from 'zod'
import { replaceFile } from '../disk/durable-files.ts'
import type { MarketplaceIdentity } from './marketplace.ts'

const Cursor = z.object({
  chainId: z.int(),
  marketplace: z.string(),
  /** A block of the chain, which tells it from others of the same id. */
  blockHash: z.string().regex(/^0x[0-9a-f]{64}$/),
  /** In decimal: it may be beyond what JSON's numbers hold. */
  firstDealId: z.string().regex(/^[1-9]\d{0,77}$/),
})

/** The block is replaced by a newer one this often, since nodes throw old blocks away. */
const BLOCK_MS = HOUR_MS

/**
 * Where to begin looking for deals: all before it are another's, or over.
 *
 * It saves time and nothing else. Without it, with one of another chain or of a block that the node does not have any more, or with one that
 * lags behind, looking begins earlier and finds the same.
 */
export class DealCursor {
  readonly #path: string
  readonly #identity: MarketplaceIdentity
  #written: bigint
  #writtenAt = performance.now()

  private constructor(path: string, identity: MarketplaceIdentity, firstDealId: bigint) {
    this.#path = path
    this.#identity = identity
    this.#written = firstDealId
  }

  /** @param hasBlock - whether the chain has a block of this hash. */
  static async open(
    path: string,
    identity: MarketplaceIdentity,
    hasBlock: (hash: `0x${string}`) => Promise<boolean>,
  ): Promise<DealCursor> {
    const found = await readCursor(path)
    const isOurs =
      found?.chainId === identity.chainId &&
      found.marketplace === identity.marketplace &&
      (await hasBlock(found.blockHash as `0x${string}`))
    return new DealCursor(path, identity, isOurs ? BigInt(found.firstDealId) : 1n)
  }

  get firstDealId(): bigint {
    return this.#written
  }

  /** Durable once this resolves; nothing happens when it is there already. @param blockHash - of a block that the chain has now. */
  async moveTo(firstDealId: bigint, blockHash: `0x${string}`): Promise<void> {
    const isFresh = firstDealId === 1n || performance.now() - this.#writtenAt < BLOCK_MS
    if (firstDealId === this.#written && isFresh) return
    const content = { ...this.#identity, blockHash, firstDealId: String(firstDealId) }
    await replaceFile(this.#path, JSON.stringify(content))
    this.#written = firstDealId
    this.#writtenAt = performance.now()
  }
}

/** Undefined when there is none, and when what is there is none: nothing is lost by that. */
async function readCursor(path: string): Promise<z.infer<typeof Cursor> | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  try {
    return Cursor.safeParse(JSON.parse(text)).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
