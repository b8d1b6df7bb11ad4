import type { Logger } from 'pino'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Config } from '../config/config.ts'
import type { RetrievalUrl } from '../files/file-entry.ts'
import type { ContentHashers } from '../hashing/content-hasher.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Prover } from '../proving/prover.ts'
import type { RecordStore } from '../records/record-store.ts'
import type { Authorizer } from '../tokens/authorize.ts'
import type { SigningKeys } from '../tokens/signing-keys.ts'
import type { StallWatch } from '../uploads/stall-watch.ts'
import type { ClientAddress } from './client-address.ts'

/** What the routes work with: everything `main.ts` has built, as one value. */
export interface Service {
  readonly config: Config
  readonly version: string
  readonly instanceId: string
  readonly records: RecordStore
  /** Undefined when no storage backend is bound. */
  readonly blobs: BlobStore | undefined
  readonly hashers: ContentHashers
  readonly prover: Prover
  readonly keys: SigningKeys
  /** Undefined unless signup is by email. */
  readonly mailer: Mailer | undefined
  readonly authorizer: Authorizer
  readonly stallWatch: StallWatch
  readonly clientAddress: ClientAddress
  readonly log: Logger
  readonly now: () => number
  readonly newId: () => string
  /** Known once the port is bound. */
  readonly publicUrl: () => string
  readonly retrievalUrl: RetrievalUrl
  readonly isDraining: () => boolean
}
