import type { Logger } from 'pino'
import type { BlobStore } from '../blobs/blob-store.ts'
import { verifyingBlobStore } from '../blobs/wrappers/verifying-blob-store.ts'
import type { Config } from '../config/config.ts'
import type { IntegrityRecords, RecordStore } from '../records/record-store.ts'
import { createDamageControl, type DamageControl } from '../upkeep/damage.ts'
import { createScrub, type Scrub } from '../upkeep/scrub.ts'

export interface GuardedBlobsDeps {
  readonly store: BlobStore
  readonly records: RecordStore
  readonly instanceId: string
  readonly config: Pick<Config, 'scrubDays' | 'orphanDays' | 'reverifyMs'>
  readonly now: () => number
  readonly log: Logger
}

/** A blob store for readers, and what guards its bytes. */
export interface GuardedBlobs {
  /** What is read of it is verified. */
  readonly blobs: BlobStore
  readonly damage: DamageControl
  readonly scrub: Scrub
  /** What the records know of damage. */
  readonly records: Pick<IntegrityRecords, 'damagedCount' | 'withoutChunksCount'>
  /** Ranges that were served without being verified, since the start of this process. */
  unverifiedReads(): number
  /** Resolves when nothing looks at the store any more. */
  stop(): Promise<void>
}

/** Puts a guard before a store: what reads find wrong is looked at again and put away, and everything is looked through in time. */
export function guardBlobs({ store, records, instanceId, config, now, log }: GuardedBlobsDeps): GuardedBlobs {
  // Whoever judges a blob reads the store itself.
  const damage = createDamageControl({ blobs: store, records, log, now, onWrong: (sha256) => blobs.forget(sha256) })
  let unverifiedReads = 0
  const blobs = verifyingBlobStore({
    store,
    chunks: records.integrity,
    trustMs: config.reverifyMs,
    onDamage: (sha256) => void damage.suspect(sha256),
    onFault: damage.onFault,
    onUnverified: () => {
      unverifiedReads += 1
    },
  })
  const { scrubDays: days, orphanDays } = config
  const scrub = createScrub({ records, blobs: store, damage, instanceId, days, orphanDays, now, log })
  return {
    blobs,
    damage,
    scrub,
    records: records.integrity,
    unverifiedReads: () => unverifiedReads,
    async stop() {
      await scrub.stop()
      await damage.settled()
    },
  }
}
