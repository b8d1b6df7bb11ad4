import { DagReadError, readUnixfsFile } from '@lade/core/dag'
import type { CID } from 'multiformats/cid'
import type { BlobBody, ByteRange } from '../blobs/blob-store.ts'
import type { DagReader } from './dag-reader.ts'

export interface UnixfsFile {
  readonly reader: DagReader
  readonly root: CID
  readonly sizeBytes: number
  /** What it means here that a block is missing, or is none of a file. */
  readonly faultOf: (error: DagReadError) => Error
  /** @default nothing to close */
  readonly close?: () => Promise<void>
}

/** The bytes of a UnixFS file as a body. Its blocks are hashed as they are read, and the bytes that are sent pay for the work. */
export function unixfsBody({ reader, root, sizeBytes, faultOf, close = async () => {} }: UnixfsFile): BlobBody {
  return {
    sizeBytes,
    version: undefined,
    async *chunks(range?: ByteRange) {
      try {
        for await (const chunk of readUnixfsFile({ root, getBlock: reader, range })) {
          yield chunk
          reader.moved(chunk.length)
        }
      } catch (error) {
        throw error instanceof DagReadError ? faultOf(error) : error
      }
    },
    close,
  }
}
