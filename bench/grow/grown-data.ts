import type { RecordStore } from '@lade/server/measuring'

/** Records of one size in one engine. */
export interface GrownData {
  readonly store: RecordStore
  /** Asks the engine itself, beside the records. */
  query(sql: string): Promise<Record<string, never>[]>
  /** Bytes of every table and index by its name, and of all together under `total`. */
  sizes(): Promise<ReadonlyMap<string, number>>
  close(): Promise<void>
}
