import type { BodyBill } from '@lade/node/budget/body-bill'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { BodySource } from '../blobs/body-intake.ts'
import type { OpenUploadRecord } from '../records/record-store.ts'
import type { StagedUpload } from '../uploads/file-commit.ts'
import type { UploadTier } from '../uploads/upload-tier.ts'
import type { OpenUploadDeps } from './open-uploads.ts'
import type { Writing } from './writers.ts'

/** What the sender says of the bytes of one request. */
export interface BodyChecksum {
  /** As node:crypto has it. */
  readonly algorithm: string
  readonly digest: Uint8Array
}

export interface AppendDeps extends OpenUploadDeps {
  readonly blobs: BlobStore
}

export interface AppendInput {
  readonly id: string
  /** Where the sender believes that the upload continues. */
  readonly offset: number
  readonly body: BodySource
  /** The length of this body; undefined where its end tells. */
  readonly bodyBytes: number | undefined
  /** The size of all of it, where this request says it. */
  readonly sizeBytes?: number | undefined
  /** True when the end of this body is that of the upload. @default false */
  readonly isLast?: boolean
  readonly checksum?: BodyChecksum | undefined
  readonly tier: UploadTier
  readonly bill: BodyBill
  readonly ownsChunks?: boolean
  /** Cuts the body. What came before is kept. */
  readonly signal: AbortSignal
  /** Called once, when the body is wanted. */
  readonly onReady: () => void
  readonly onProgress: (receivedBytes: number) => void
}

/** What an upload has come to. `staged` is the file that it has become by this request. */
export interface Appended {
  readonly upload: OpenUploadRecord
  readonly staged?: StagedUpload | undefined
}

/** A request that writes, and to what. */
export interface Turn {
  readonly upload: OpenUploadRecord
  readonly writer: string
  readonly writing: Writing
}
