import type { ContentId } from '@lade/core/content'
import { DagReadError } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Moderation } from '../moderation/moderation.ts'
import type { RecordStore } from '../records/record-store.ts'
import type { BlockReadings } from './block-readings.ts'
import { BlockSource } from './block-source.ts'
import { fileRootOf } from './content-cid.ts'
import { DagReader } from './dag-reader.ts'
import type { FileContent } from './open-bytes.ts'
import { checkObject, type ObjectId } from './open-object.ts'
import { unixfsBody } from './unixfs-body.ts'

export interface UnixfsContentDeps {
  readonly records: RecordStore
  readonly blobs: BlobStore
  readonly now: () => number
  readonly moderation: Pick<Moderation, 'content'>
  readonly blockReadings: BlockReadings
  readonly budget: WorkBudget
  /** Who reads, and pays for what reading takes besides sending the bytes. */
  readonly principal: string
}

/**
 * The UnixFS file that `cid` names inside of an object, a CAR. Its blocks are hashed again as they are read, so a reader gets
 * right bytes or none.
 *
 * @throws {LadeError} `storage_failed`, `over_budget`.
 */
export async function openUnixfsContent(deps: UnixfsContentDeps, cid: ContentId, id: ObjectId): Promise<FileContent> {
  const { object } = id
  const root = fileRootOf(cid)
  const { budget, blockReadings: readings, principal } = deps
  budget.require(principal, 'links')
  const source = new BlockSource({ ...deps, within: object })
  // All bytes of a file are sent, however often its blocks are repeated: they pay.
  const limits = { maxBlocks: Infinity, maxLinks: Infinity }
  const reader = new DagReader({ source, readings, budget, principal, ...limits })
  const close = async (): Promise<void> => {
    reader.settle()
    await source.close()
  }
  try {
    const { answer: node } = await reader.read(root, { ask: 'node' })
    if (node.kind !== 'file') throw failed(new Error(`${root} in the object ${object} is no file`))
    const { sizeBytes } = node
    const body = unixfsBody({ reader, root, sizeBytes, close, faultOf: failed })
    const check = () => checkObject(deps, id)
    return { sizeBytes, open: async () => ({ kind: 'blob', body }), check, close }
  } catch (error) {
    await close()
    throw error instanceof DagReadError ? failed(error) : error
  }
}

/** A CAR is whole when it is recorded, so that whatever it lacks afterwards was lost here. */
function failed(cause: Error): LadeError<'storage_failed'> {
  return new LadeError('storage_failed', { retryAfterSeconds: 60 }, { cause })
}
