import type { Logger } from 'pino'
import type { BlobStore } from './blobs/blob-store.ts'
import { verifyingBlobStore } from './blobs/wrappers/verifying-blob-store.ts'
import type { Config } from './config/config.ts'
import type { RecordStore } from './records/record-store.ts'
import { createDamageControl, type DamageControl } from './upkeep/damage.ts'
import { createScrub, type Scrub } from './upkeep/scrub.ts'

export interface GuardedBlobsDeps {
  readonly store: BlobStore
  readonly records: RecordStore
  readonly instanceId: string
  readonly config: Pick<Config, 'scrubDays'>
  readonly now: () => number
  readonly log: Logger
}

/** A blob store for readers, and what looks after its bytes. */
export interface GuardedBlobs {
  /** Whole reads of it are verified. */
  readonly blobs: BlobStore
  readonly damage: DamageControl
  readonly scrub: Scrub
  /** Resolves when nothing looks at the store any more. */
  stop(): Promise<void>
}

/** Puts a guard before a store: what reads find wrong is looked at again and put away, and everything is looked through in time. */
export function guardBlobs({ store, records, instanceId, config, now, log }: GuardedBlobsDeps): GuardedBlobs {
  // Whoever judges a blob reads the store itself.
  const damage = createDamageControl({ blobs: store, log, now, onWrong: (sha256) => blobs.forget(sha256) })
  const blobs = verifyingBlobStore({ store, onDamage: (sha256) => void damage.suspect(sha256) })
  const scrub = createScrub({ records, blobs: store, damage, instanceId, days: config.scrubDays, now, log })
  return {
    blobs,
    damage,
    scrub,
    async stop() {
      await scrub.stop()
      await damage.settled()
    },
  }
}
