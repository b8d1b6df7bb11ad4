import type { BlobStore } from '../blobs/blob-store.ts'
import type { InventoryRecords } from '../records/record-store.ts'
import { blobPages } from '../storage-move/blob-pages.ts'

const PAGE = 1000

/** What records and objects have of each other. */
export interface InstallationStock {
  /** Objects that the records know, and those that they do not. */
  readonly known: number
  readonly unknown: number
  /** Blobs that the records promise and that are not there. */
  readonly missing: number
}

interface StockDeps {
  readonly store: Pick<BlobStore, 'list'>
  readonly inventory: Pick<InventoryRecords, 'stored' | 'known'>
  readonly signal: AbortSignal
}

/**
 * Compares all objects with all records by digest. Reads no blob and changes nothing.
 *
 * @throws {LadeError} `storage_failed`; the reason of `signal`.
 */
export async function takeStock({ store, inventory, signal }: StockDeps): Promise<InstallationStock> {
  let [known, unknown, missing] = [0, 0, 0]
  for await (const digests of pagesOf(store)) {
    signal.throwIfAborted()
    const knownHere = (await inventory.known(digests)).length
    known += knownHere
    unknown += digests.length - knownHere
  }
  for await (const { needed } of blobPages({ inventory, source: store, destination: NOTHING })) {
    signal.throwIfAborted()
    missing += needed.filter(({ atSource }) => atSource === undefined).length
  }
  return { known, unknown, missing }
}

const NOTHING: Pick<BlobStore, 'list'> = { async *list() {} }

async function* pagesOf(store: Pick<BlobStore, 'list'>): AsyncGenerator<string[]> {
  let page: string[] = []
  for await (const { sha256 } of store.list()) {
    // A store may have several of one digest.
    if (page.at(-1) === sha256) continue
    if (page.length === PAGE) {
      yield page
      page = []
    }
    page.push(sha256)
  }
  if (page.length > 0) yield page
}
