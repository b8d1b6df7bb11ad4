import type { ContentId } from '@lade/core/content'
import { DagReadError, readUnixfsFile, readUnixfsNode } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import type { CID } from 'multiformats/cid'
import type { BlobBody, BlobStore, ByteRange } from '../blobs/blob-store.ts'
import type { RecordStore } from '../records/record-store.ts'
import { BlockSource } from './block-source.ts'
import { fileRootOf } from './content-cid.ts'
import type { FileContent } from './file-content.ts'
import { checkObject, type ObjectId } from './open-object.ts'

export interface UnixfsContentDeps {
  readonly records: RecordStore
  readonly blobs: BlobStore
  readonly now: () => number
}

/**
 * The UnixFS file that `cid` names inside of an object, a CAR. Its blocks are hashed again as they are read, so a reader gets
 * right bytes or none.
 *
 * @throws {LadeError} `storage_failed`.
 */
export async function openUnixfsContent(deps: UnixfsContentDeps, cid: ContentId, id: ObjectId): Promise<FileContent> {
  const { object } = id
  const root = fileRootOf(cid)
  const source = new BlockSource({ ...deps, within: object })
  try {
    const block = await source.get(root)
    const node = block && readUnixfsNode(root.code, block)
    if (node?.kind !== 'file') throw failed(new Error(`${root} in the object ${object} is no file`))
    const { sizeBytes } = node
    const body = fileBody({ source, root, sizeBytes })
    const check = () => checkObject(deps, id)
    return { sizeBytes, open: async () => ({ kind: 'blob', body }), check, close: () => source.close() }
  } catch (error) {
    await source.close()
    throw error
  }
}

interface FileInCar {
  readonly source: BlockSource
  readonly root: CID
  readonly sizeBytes: number
}

function fileBody({ source, root, sizeBytes }: FileInCar): BlobBody {
  return {
    sizeBytes,
    version: undefined,
    async *chunks(range?: ByteRange) {
      try {
        yield* readUnixfsFile({ root, getBlock: (cid) => source.get(cid), range })
      } catch (error) {
        throw error instanceof DagReadError ? failed(error) : error
      }
    },
    close: () => source.close(),
  }
}

/** A CAR is whole when it is recorded, so that whatever it lacks afterwards was lost here. */
function failed(cause: Error): LadeError<'storage_failed'> {
  return new LadeError('storage_failed', { retryAfterSeconds: 60 }, { cause })
}
