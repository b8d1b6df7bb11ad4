import { readFile } from 'node:fs/promises'
import { HOUR_MS } from '@lade/core/time'
import { hasCode } from '@lade/node/disk/durable-directory'
import * as z from 'zod'
import { replaceFile } from '../disk/durable-files.ts'

const DealId = z.string().regex(/^(?:0|[1-9]\d{0,77})$/)
const Block = z.string().regex(/^0x[0-9a-f]{64}$/)

const Cursor = z.object({
  chainId: z.int(),
  /** A block of the chain, which tells it from others of the same id. */
  blockHash: Block,
  /** By the addresses of their contracts; in decimal, since they may be beyond what JSON's numbers hold. */
  firstDealIds: z.record(z.string(), DealId),
})

/** As it was written while a prover followed one contract only. */
const CursorOfOne = z
  .object({ chainId: z.int(), marketplace: z.string(), blockHash: Block, firstDealId: DealId })
  .transform(({ chainId, blockHash, marketplace, firstDealId }) => ({
    chainId,
    blockHash,
    firstDealIds: { [marketplace]: firstDealId },
  }))

const AnyCursor = z.union([Cursor, CursorOfOne])

/** The block is replaced by a newer one this often, since nodes throw old blocks away. */
const BLOCK_MS = HOUR_MS

/**
 * Where to begin looking for deals, contract by contract: all before it are another's, or over.
 *
 * It saves time and nothing else. Without it, with one of another chain or of a block that the node does not have any more, or with one that
 * lags behind, looking begins earlier and finds the same. What it says about a contract that is not followed stays.
 */
export class DealCursor {
  readonly #path: string
  readonly #chainId: number
  readonly #firstDealIds: Map<string, bigint>
  #writtenAt = performance.now()

  private constructor(path: string, chainId: number, firstDealIds: Map<string, bigint>) {
    this.#path = path
    this.#chainId = chainId
    this.#firstDealIds = firstDealIds
  }

  /** @param hasBlock - whether the chain has a block of this hash. */
  static async open(
    path: string,
    chainId: number,
    hasBlock: (hash: `0x${string}`) => Promise<boolean>,
  ): Promise<DealCursor> {
    const found = await readCursor(path)
    const isOurs = found?.chainId === chainId && (await hasBlock(found.blockHash as `0x${string}`))
    const known = Object.entries(isOurs ? found.firstDealIds : {})
    return new DealCursor(path, chainId, new Map(known.map(([contract, dealId]) => [contract, BigInt(dealId)])))
  }

  /** @param contract - in lower case. @param beginning - its first deal, for a contract of which nothing is known. */
  firstDealIdOf(contract: string, beginning: bigint): bigint {
    const firstDealId = this.#firstDealIds.get(contract) ?? beginning
    this.#firstDealIds.set(contract, firstDealId)
    return firstDealId
  }

  /**
   * Durable once this resolves; nothing happens when it is there already.
   *
   * @param firstDealIds - of contracts, in lower case.
   * @param blockHash - of a block that the chain has now.
   */
  async moveTo(firstDealIds: ReadonlyMap<string, bigint>, blockHash: `0x${string}`): Promise<void> {
    const isMoved = [...firstDealIds].some(([contract, dealId]) => this.#firstDealIds.get(contract) !== dealId)
    const isFresh = performance.now() - this.#writtenAt < BLOCK_MS
    if (!isMoved && isFresh) return
    for (const [contract, dealId] of firstDealIds) this.#firstDealIds.set(contract, dealId)
    const texts = [...this.#firstDealIds].map(([contract, dealId]) => [contract, String(dealId)] as const)
    const content = { chainId: this.#chainId, blockHash, firstDealIds: Object.fromEntries(texts) }
    await replaceFile(this.#path, JSON.stringify(content))
    this.#writtenAt = performance.now()
  }
}

/** Undefined when there is none, and when what is there is none: nothing is lost by that. */
async function readCursor(path: string): Promise<z.infer<typeof AnyCursor> | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  try {
    return AnyCursor.safeParse(JSON.parse(text)).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
