import type { PartDigests } from './part-hasher.ts'
import type { HexDigests } from './running-hash.ts'
import type { Slice } from './slice.ts'

/** Hashes the parts of one file in their order, here or in a worker. */
export interface Hashing {
  /**
   * @param onHashed - told how many more bytes were hashed.
   * @throws {LadeError} `source_changed`.
   */
  part(slice: Slice, onHashed: (bytes: number) => void): Promise<PartDigests>
  /** The running hashes of all parts together. */
  finish(): Promise<HexDigests>
  /** Gives up what it holds; what is under way fails. */
  close(): void
}
