import type { BlobStore } from '../blobs/blob-store.ts'
import type { BlobPagesDeps } from '../storage-move/blob-pages.ts'
import { type Amount, RunningAmount } from '../storage-move/scan-blobs.ts'

const PAGE = 1000

/**
 * Removes the blobs that the records do not need.
 *
 * @throws {LadeError} `storage_failed`; the reason of `signal`.
 */
export async function removeUnneeded(deps: {
  readonly inventory: BlobPagesDeps['inventory']
  readonly store: Pick<BlobStore, 'list' | 'delete'>
  readonly signal: AbortSignal
}): Promise<Amount> {
  const { inventory, store, signal } = deps
  const removed = new RunningAmount()
  const needed = neededDigests(inventory)
  let next = await needed.next()
  for await (const { sha256, put, sizeBytes } of store.list()) {
    signal.throwIfAborted()
    while (next.done !== true && next.value < sha256) next = await needed.next()
    if (next.done !== true && next.value === sha256) continue
    await store.delete({ sha256, put })
    removed.add(sizeBytes)
  }
  return removed.amount
}

async function* neededDigests(inventory: BlobPagesDeps['inventory']): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const page = await inventory.stored({ after, limit: PAGE })
    for (const { sha256 } of page) yield sha256
    if (page.length < PAGE) return
    after = page.at(-1)?.sha256 ?? ''
  }
}
