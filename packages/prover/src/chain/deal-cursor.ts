import { readFile } from 'node:fs/promises'
import { hasCode } from '@lade/node/disk/durable-directory'
import * as z from 'zod'
import { replaceFile } from '../disk/durable-files.ts'
import type { MarketplaceIdentity } from './marketplace.ts'

const Cursor = z.object({
  chainId: z.int(),
  genesis: z.string(),
  marketplace: z.string(),
  /** In decimal: it may be beyond what JSON's numbers hold. */
  firstDealId: z.string().regex(/^[1-9]\d{0,77}$/),
})

/**
 * Where to begin looking for deals: all before it are another's, or over.
 *
 * It saves time and nothing else. Without it, with one of another chain, or with one that lags behind, looking begins earlier and finds
 * the same.
 */
export class DealCursor {
  readonly #path: string
  readonly #identity: MarketplaceIdentity
  #written: bigint

  private constructor(path: string, identity: MarketplaceIdentity, firstDealId: bigint) {
    this.#path = path
    this.#identity = identity
    this.#written = firstDealId
  }

  static async open(path: string, identity: MarketplaceIdentity): Promise<DealCursor> {
    const found = await readCursor(path)
    const isOurs =
      found?.chainId === identity.chainId &&
      found.genesis === identity.genesis &&
      found.marketplace === identity.marketplace
    return new DealCursor(path, identity, isOurs ? BigInt(found.firstDealId) : 1n)
  }

  get firstDealId(): bigint {
    return this.#written
  }

  /** Durable once this resolves; nothing happens when it is there already. */
  async moveTo(firstDealId: bigint): Promise<void> {
    if (firstDealId === this.#written) return
    await replaceFile(this.#path, JSON.stringify({ ...this.#identity, firstDealId: String(firstDealId) }))
    this.#written = firstDealId
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
