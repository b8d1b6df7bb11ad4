import type { ImportProfileName } from './import-profile.ts'

/** The blocks of a file under one import profile, by their digests alone: every block can be made again from these and the file. */
export interface ImportedDag {
  readonly profile: ImportProfileName
  /** The root's sha2-256, 64 lower-case hex digits. */
  readonly root: string
  /** `raw` when the whole file is one raw leaf. */
  readonly rootCodec: 'raw' | 'dag-pb'
  /**
   * The sha2-256 of every block, 32 bytes each: all leaves in order, then each level above them, the root last. A block's
   * place in this list is its node number.
   */
  readonly digests: Uint8Array
}
