import type { HashingPlatform } from '../hashing/open-hashing.ts'
import type { Slice } from '../hashing/slice.ts'
import type { Transport } from '../http/transport.ts'
import type { OpenedFolder, WalkOptions } from '../put-folder/source-item.ts'
import type { KnownSource } from './known-source.ts'

/** A place to gather bytes in that come once, so that they can be read twice. */
export interface Spill {
  append(chunk: Uint8Array): Promise<void>
  /** All that was appended. */
  slice(): Slice
  /** Nothing is left of it afterwards. Safe to call twice. */
  discard(): Promise<void>
}

/** What differs between the runtimes: Node's and the browsers'. */
export interface Platform extends HashingPlatform {
  /** @throws {TypeError} where there are no paths. */
  openPath(path: string | URL): Promise<KnownSource | AsyncIterable<Uint8Array>>
  /** @throws {TypeError} where there are no paths. */
  openFolder(path: string | URL, options: WalkOptions): Promise<OpenedFolder>
  createSpill(): Promise<Spill>
  /** @param fetch - the caller's own, in place of the runtime's. */
  transport(fetch: typeof globalThis.fetch | undefined): Transport
}
