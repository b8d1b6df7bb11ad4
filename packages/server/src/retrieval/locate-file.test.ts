import { parseContentId } from '@lade/core/content'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { beforeAll, describe, expect, it } from 'vitest'
import type { BlobStore } from '../blobs/blob-store.ts'
import { openMemoryBlobStore } from '../blobs/drivers/memory/memory-blob-store.ts'
import { pieceHandle } from '../records/object-handle.ts'
import type { FileRecord, ObjectPart } from '../records/record-store.ts'
import { fileRecordOf } from '../testing/running/staging-fixture.ts'
import type { FoundFile } from './find-file.ts'
import { type LocateFileDeps, locateFile, MIN_LOCATED_BYTES } from './locate-file.ts'

const BYTES = Buffer.alloc(MIN_LOCATED_BYTES, 7)
const SHA256 = parseContentId(sha256Hex(BYTES), sha256Hex).text
const HEADERS = { contentType: 'text/plain', contentDisposition: 'inline', cacheControl: 'no-store' }
const HERE = { kind: 'file', path: `here/${SHA256}` }

describe('locateFile', () => {
  const { locate: _none, ...memory } = openMemoryBlobStore()
  const blobs: BlobStore = { ...memory, locate: async (sha256) => ({ kind: 'file', path: `here/${sha256}` }) }
  beforeAll(async () => {
    const pending = await blobs.begin({ holder: 'test', sizeBytes: BYTES.length })
    await pending.write(BYTES)
    await pending.commit(SHA256)
  })

  /** Records of an object that is a blob, where they do not say otherwise. */
  const recordsOf = (kept?: Uint8Array, parts: readonly ObjectPart[] = []): LocateFileDeps['records'] => ({
    files: { inlineBytes: async () => kept },
    compositions: { partsOf: async () => parts },
    integrity: { damageOf: async () => undefined },
  })
  const foundOf = (file: Partial<FileRecord> = {}, view: FoundFile['view'] = 'bytes'): FoundFile => ({
    file: fileRecordOf({ sha256: SHA256, object: SHA256, sizeBytes: BYTES.length, ...file }),
    view,
  })

  it.each(['bytes', 'car'] as const)('finds a blob that is given back whole, as %s', async (view) => {
    expect(await locateFile({ records: recordsOf(), blobs }, foundOf({}, view), HEADERS)).toEqual(HERE)
  })

  it('leaves files that are no whole blob to be read', async () => {
    const part: ObjectPart = { object: SHA256, sizeBytes: BYTES.length }
    for (const [records, found] of [
      [recordsOf(), foundOf({}, 'unixfs')],
      [recordsOf(BYTES), foundOf()],
      [recordsOf(undefined, [part]), foundOf()],
      [recordsOf(), foundOf({ object: pieceHandle({ pieceRoot: 'ab'.repeat(32), sizeBytes: BYTES.length }) })],
      [recordsOf(), foundOf({ sizeBytes: MIN_LOCATED_BYTES - 1 })],
    ] as const) {
      expect(await locateFile({ records, blobs }, found, HEADERS)).toBeUndefined()
    }
  })

  it('leaves blobs that are missing, or of another size, to those who say it', async () => {
    const records = recordsOf()
    expect(await locateFile({ records, blobs }, foundOf({ object: 'ab'.repeat(32) }), HEADERS)).toBeUndefined()
    expect(await locateFile({ records, blobs }, foundOf({ sizeBytes: BYTES.length + 1 }), HEADERS)).toBeUndefined()
  })

  it('finds nothing in stores that are read here only, nor without a store', async () => {
    const records = recordsOf()
    expect(await locateFile({ records, blobs: memory }, foundOf(), HEADERS)).toBeUndefined()
    expect(await locateFile({ records, blobs: undefined }, foundOf(), HEADERS)).toBeUndefined()
  })
})
