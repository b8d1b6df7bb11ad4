import type { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { type CheckedBytes, checked, compareEtag, hexToBase64 } from './checked-bytes.ts'
import type { CallOptions, S3Calls } from './s3-calls.ts'
import { isFailure, S3Failure } from './s3-failure.ts'

/** An object as the store describes it. */
export interface StoredObject {
  readonly sizeBytes: number
  readonly etag: string | undefined
}

/** The headers that an object comes with, where they tell that its ETag is no md5. */
interface Sealing {
  readonly ServerSideEncryption?: string | undefined
  readonly SSECustomerAlgorithm?: string | undefined
}

/** True when an ETag of this answer may be compared with an md5. */
export function hasMd5Etag({ habits }: S3Calls, answer: Sealing): boolean {
  const isSealed =
    answer.ServerSideEncryption?.startsWith('aws:kms') === true || answer.SSECustomerAlgorithm !== undefined
  return habits.md5Etags && !isSealed
}

/** What is under `key`; undefined when the store says that there is no such key. */
export async function headObject(calls: S3Calls, key: string): Promise<StoredObject | undefined> {
  const input = { Bucket: calls.settings.bucket, Key: key }
  try {
    const answer = await calls.run('HeadObject', (client, options) =>
      client.send(new HeadObjectCommand(input), options),
    )
    if (answer.ContentLength === undefined) {
      throw new S3Failure('HeadObject', { kind: 'permanent', code: 'NoContentLength' })
    }
    return { sizeBytes: answer.ContentLength, etag: hasMd5Etag(calls, answer) ? answer.ETag : undefined }
  } catch (error) {
    if (!(error instanceof S3Failure) || error.status !== 404) throw error
    return (await isAbsent(calls, key)) ? undefined : headObject(calls, key)
  }
}

/** A HEAD has no body to say what is missing: a key, the bucket, or the route to the store. A GET says it. */
async function isAbsent(calls: S3Calls, key: string): Promise<boolean> {
  try {
    const stream = await getObject(calls, key, { range: 'bytes=0-0', pool: 'requests' })
    stream.body.destroy()
    return false
  } catch (error) {
    if (error instanceof S3Failure && error.code === 'NoSuchKey') return true
    if (error instanceof S3Failure && error.status === 416) return false // it is there, and empty
    throw error
  }
}

/** Starts a GET. The body is open, and ends with the connection of `calls` at the latest. */
export async function getObject(
  calls: S3Calls,
  key: string,
  { range, ifMatch, ...options }: { range?: string; ifMatch?: string | undefined } & CallOptions = {},
): Promise<{ answer: GetObjectCommandOutput; body: Readable }> {
  const input = {
    Bucket: calls.settings.bucket,
    Key: key,
    ...(range === undefined ? {} : { Range: range }),
    ...(ifMatch === undefined ? {} : { IfMatch: ifMatch }),
  }
  const answer = await calls.run('GetObject', (client, send) => client.send(new GetObjectCommand(input), send), {
    pool: 'bodies',
    ...options,
  })
  const body = answer.Body as Readable | undefined
  if (body === undefined) throw new S3Failure('GetObject', { kind: 'transient', code: 'NoBody' })
  calls.watch(body)
  return { answer, body }
}

/** All of a small object. */
export async function readSmallObject(calls: S3Calls, key: string): Promise<Buffer> {
  const { body } = await getObject(calls, key, { pool: 'requests' })
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/**
 * Puts `content` under `key`, where its digests are checked by the store, and its md5 here.
 *
 * @returns `exists` when there was something under `key` and `ifAbsent` was asked for and is known to this store.
 */
export async function putObject(
  calls: S3Calls,
  key: string,
  content: CheckedBytes,
  options: { ifAbsent: boolean },
): Promise<'stored' | 'exists'> {
  const { conditionalPuts, checksums } = calls.habits
  const isConditional = options.ifAbsent && conditionalPuts
  try {
    await calls.run('PutObject', async (client, send) => {
      const answer = await client.send(putCommand(calls, key, content, isConditional), send)
      const verdict = hasMd5Etag(calls, answer) ? compareEtag(answer.ETag, content.md5) : 'unknown'
      if (verdict === 'different') await readBack(calls, key, content)
    })
    return 'stored'
  } catch (error) {
    if (isConditional && isFailure(error, 'condition')) return 'exists'
    if (!isFailure(error, 'unsupported') || !(isConditional || checksums)) throw error
    if (isConditional) calls.unlearn('conditionalPuts', 'The object store does not support conditional puts.')
    else calls.unlearn('checksums', 'The object store does not support SHA-256 checksums; MD5 is compared.')
    return putObject(calls, key, content, options)
  }
}

/** Tells a store that keeps other bytes from one whose ETags are no MD5. */
async function readBack(calls: S3Calls, key: string, { sha256 }: CheckedBytes): Promise<void> {
  const bytes = await readSmallObject(calls, key)
  if (checked(bytes).sha256 !== sha256) {
    throw new S3Failure('PutObject', { kind: 'transient', code: 'OtherBytesStored' })
  }
  calls.unlearn('md5Etags', 'The ETags of the object store are not MD5; only the signature is checked.')
}

function putCommand(calls: S3Calls, key: string, content: CheckedBytes, isConditional: boolean): PutObjectCommand {
  const command = new PutObjectCommand({
    Bucket: calls.settings.bucket,
    Key: key,
    Body: content.bytes,
    ContentMD5: hexToBase64(content.md5),
    ...(calls.habits.checksums ? { ChecksumSHA256: hexToBase64(content.sha256) } : {}),
    ...(isConditional ? { IfNoneMatch: '*' } : {}),
  })
  command.middlewareStack.add(signingDigest(content.sha256), { step: 'build' })
  return command
}

/** Makes the signature cover the body by a digest that is known, which spares hashing it once more. */
export function signingDigest(sha256: string) {
  return <Args extends object, Output>(next: (args: Args) => Promise<Output>) =>
    (args: Args) => {
      const { request } = args as { request?: { headers: Record<string, string> } }
      if (request !== undefined) request.headers['x-amz-content-sha256'] = sha256
      return next(args)
    }
}

/** Removes what is under `key`, if anything is. */
export async function deleteObject(calls: S3Calls, key: string, options: CallOptions = {}): Promise<void> {
  const input = { Bucket: calls.settings.bucket, Key: key }
  try {
    await calls.run('DeleteObject', (client, send) => client.send(new DeleteObjectCommand(input), send), options)
  } catch (error) {
    if (!isFailure(error, 'absent')) throw error
  }
}

/** A page of a bucket listing. */
export interface ListedKeys {
  readonly objects: readonly { readonly key: string; readonly sizeBytes: number }[]
  /** Names up to the delimiter, where one was given. */
  readonly groups: readonly string[]
}

/** The keys under `prefix` that come after `startAfter`, page by page in ascending order. */
export async function* listKeys(
  calls: S3Calls,
  { prefix, ...how }: { prefix: string; startAfter?: string; delimiter?: string; pageSize?: number },
): AsyncGenerator<ListedKeys> {
  let token: string | undefined
  do {
    const input = {
      Bucket: calls.settings.bucket,
      Prefix: prefix,
      ...(how.startAfter === undefined ? {} : { StartAfter: how.startAfter }),
      ...(how.delimiter === undefined ? {} : { Delimiter: how.delimiter }),
      ...(how.pageSize === undefined ? {} : { MaxKeys: how.pageSize }),
      ...(token === undefined ? {} : { ContinuationToken: token }),
    }
    const page = await calls.run('ListObjectsV2', (client, options) =>
      client.send(new ListObjectsV2Command(input), options),
    )
    yield {
      objects: (page.Contents ?? []).map(({ Key = '', Size = 0 }) => ({ key: Key, sizeBytes: Size })),
      groups: (page.CommonPrefixes ?? []).map(({ Prefix = '' }) => Prefix),
    }
    token = page.NextContinuationToken
    if (page.IsTruncated === true && token === undefined) {
      throw new S3Failure('ListObjectsV2', { kind: 'permanent', code: 'NoContinuationToken' })
    }
  } while (token !== undefined)
}

/** A multipart upload that has neither been completed nor ended. */
export interface ListedUpload {
  readonly key: string
  readonly uploadId: string
  readonly begunAt: Date | undefined
}

/** The uploads under way to keys under `prefix`; none where the store cannot list them: there the bucket's rule for them ends them. */
export async function* listUploads(calls: S3Calls, prefix: string): AsyncGenerator<ListedUpload> {
  let page: ListMultipartUploadsCommandOutput | undefined
  do {
    const input = {
      Bucket: calls.settings.bucket,
      Prefix: prefix,
      ...(page === undefined ? {} : { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }),
    }
    try {
      page = await calls.run('ListMultipartUploads', (client, options) =>
        client.send(new ListMultipartUploadsCommand(input), options),
      )
    } catch (error) {
      if (!isFailure(error, 'unsupported')) throw error
      return
    }
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Key !== undefined && UploadId !== undefined) yield { key: Key, uploadId: UploadId, begunAt: Initiated }
    }
  } while (page.IsTruncated === true && page.NextKeyMarker !== undefined)
}
