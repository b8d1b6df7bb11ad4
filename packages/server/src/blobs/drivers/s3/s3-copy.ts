import { CopyObjectCommand, UploadPartCopyCommand } from '@aws-sdk/client-s3'
import { hexToBase64 } from './checked-bytes.ts'
import { MultipartUpload, type StoredPart, type UploadName } from './multipart-upload.ts'
import type { S3Calls } from './s3-calls.ts'
import { isFailure, S3Failure } from './s3-failure.ts'
import { deleteObject, headObject } from './s3-objects.ts'

/** Copies in flight at once; the store does the work, so that more gain little. */
const COPIES_IN_FLIGHT = 3

export interface CopyOptions {
  readonly from: string
  readonly to: string
  readonly sizeBytes: number
  /** The sha2-256 that the bytes have, in hex, held against what the store finds where it hashes; undefined when they may be wrong. */
  readonly sha256: string | undefined
  /** True when nobody else ever uses the key `to`, so that what is wrong is removed from it. */
  readonly isOwnKey: boolean
  /** Told about a multipart upload before it has any part. */
  readonly onUpload?: (name: UploadName) => Promise<void>
}

/** Copies an object within the store, and looks at what came of it. */
export async function copyObject(calls: S3Calls, options: CopyOptions): Promise<void> {
  const { to, sizeBytes } = options
  if (sizeBytes > calls.settings.copyAtMostBytes) return copyInParts(calls, options)
  const checksum = await copyAtOnce(calls, options)
  const stored = await headObject(calls, to)
  if (stored === undefined) throw new S3Failure('CopyObject', { kind: 'permanent', code: 'NothingStored' })
  // A checksum of parts ends in their number and cannot be compared.
  const isWhole = checksum !== undefined && options.sha256 !== undefined && !checksum.includes('-')
  const isOther = isWhole && checksum !== hexToBase64(options.sha256)
  if (stored.sizeBytes === sizeBytes && !isOther) return
  if (options.isOwnKey) await deleteObject(calls, to)
  throw new S3Failure('CopyObject', { kind: 'permanent', code: 'OtherBytesStored' })
}

/** The SHA-256 that the store found, where it hashes what it copies. */
async function copyAtOnce(calls: S3Calls, options: CopyOptions): Promise<string | undefined> {
  const { checksums } = calls.habits
  const input = {
    Bucket: calls.settings.bucket,
    Key: options.to,
    CopySource: sourceOf(calls, options.from),
    ...(checksums ? { ChecksumAlgorithm: 'SHA256' as const } : {}),
  }
  try {
    const answer = await calls.run('CopyObject', (client, send) => client.send(new CopyObjectCommand(input), send), {
      pool: 'copies',
    })
    return answer.CopyObjectResult?.ChecksumSHA256
  } catch (error) {
    if (!checksums || !isFailure(error, 'unsupported')) throw error
    calls.unlearn('checksums', 'The object store does not support SHA-256 checksums; MD5 is compared.')
    return copyAtOnce(calls, options)
  }
}

/** An object that becomes a part of another one. */
export interface Segment {
  readonly key: string
  readonly sizeBytes: number
}

/**
 * Makes one object of several, in order, within the store. Each but the last has the least size of a part.
 *
 * @param onUpload - told about the upload before it has any part.
 */
export async function joinObjects(
  calls: S3Calls,
  segments: readonly Segment[],
  { to, onUpload }: { readonly to: string; readonly onUpload: (name: UploadName) => Promise<void> },
): Promise<void> {
  const upload = await MultipartUpload.create(calls, to, { hasChecksums: false })
  try {
    await onUpload(upload.name)
    const parts: StoredPart[] = []
    for (let first = 0; first < segments.length; first += COPIES_IN_FLIGHT) {
      const batch = segments.slice(first, first + COPIES_IN_FLIGHT).map(({ key, sizeBytes }, index) => {
        const part = { number: first + index + 1, from: key, offset: 0, end: sizeBytes }
        return copyRange(calls, upload.name, part)
      })
      parts.push(...(await Promise.all(batch)))
    }
    await upload.complete(parts)
  } catch (error) {
    // As in copyInParts.
    await upload.abort().catch(() => {})
    throw error
  }
}

async function copyInParts(calls: S3Calls, options: CopyOptions): Promise<void> {
  const { copyAtMostBytes } = calls.settings
  const upload = await MultipartUpload.create(calls, options.to, { hasChecksums: false })
  try {
    await options.onUpload?.(upload.name)
    const count = Math.ceil(options.sizeBytes / copyAtMostBytes)
    const parts: StoredPart[] = []
    for (let first = 0; first < count; first += COPIES_IN_FLIGHT) {
      const batch = Array.from({ length: Math.min(COPIES_IN_FLIGHT, count - first) }, (_, index) => first + index)
      parts.push(...(await Promise.all(batch.map((index) => copyPart(calls, options, upload.name, index)))))
    }
    await upload.complete(parts)
  } catch (error) {
    // What cannot be ended now is ended by the sweep of its marker, or by the bucket's rule; the caller needs the first error.
    await upload.abort().catch(() => {})
    throw error
  }
}

async function copyPart(calls: S3Calls, options: CopyOptions, upload: UploadName, index: number): Promise<StoredPart> {
  const { copyAtMostBytes } = calls.settings
  const offset = index * copyAtMostBytes
  const end = Math.min(offset + copyAtMostBytes, options.sizeBytes)
  return copyRange(calls, upload, { number: index + 1, from: options.from, offset, end })
}

/** Makes a part of what is from `offset` to `end` of another object. */
async function copyRange(
  calls: S3Calls,
  upload: UploadName,
  {
    number,
    from,
    offset,
    end,
  }: { readonly number: number; readonly from: string; readonly offset: number; readonly end: number },
): Promise<StoredPart> {
  const input = {
    Bucket: calls.settings.bucket,
    Key: upload.key,
    UploadId: upload.uploadId,
    PartNumber: number,
    CopySource: sourceOf(calls, from),
    CopySourceRange: `bytes=${offset}-${end - 1}`,
  }
  const answer = await calls.run(
    'UploadPartCopy',
    (client, send) => client.send(new UploadPartCopyCommand(input), send),
    {
      pool: 'copies',
    },
  )
  const etag = answer.CopyPartResult?.ETag
  if (etag === undefined) throw new S3Failure('UploadPartCopy', { kind: 'permanent', code: 'NoETag' })
  return { PartNumber: number, ETag: etag, sizeBytes: end - offset, md5: undefined }
}

function sourceOf({ settings }: S3Calls, key: string): string {
  return `${settings.bucket}/${key.split('/').map(encodeURIComponent).join('/')}`
}
