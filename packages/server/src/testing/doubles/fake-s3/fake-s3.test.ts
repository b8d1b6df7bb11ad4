import { createHash } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FakeS3, type FakeS3Options, startFakeS3 } from './fake-s3.ts'

let s3: FakeS3
let client: S3Client

async function start(options: FakeS3Options = {}, credentials?: { accessKeyId: string; secretAccessKey: string }) {
  await stop()
  s3 = await startFakeS3(options)
  client = clientOf(credentials ?? s3.credentials)
}

function clientOf(credentials: { accessKeyId: string; secretAccessKey: string }, region = s3.region): S3Client {
  return new S3Client({
    endpoint: s3.url,
    region,
    credentials,
    forcePathStyle: true,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  })
}

async function stop(): Promise<void> {
  client?.destroy()
  await s3?.close().catch(() => {}) // it may be stopped already
}

beforeEach(() => start())
afterEach(stop)

const Bucket = 'bucket'
const md5 = (text: string | Buffer, encoding: 'hex' | 'base64') => createHash('md5').update(text).digest(encoding)
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64')
const put = (Key: string, Body: string, more = {}) => client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }))
const textOf = async (Key: string, more = {}) =>
  (await client.send(new GetObjectCommand({ Bucket, Key, ...more }))).Body?.transformToString()

describe('startFakeS3', () => {
  test('keeps objects, with the md5 as their ETag', async () => {
    expect((await put('a/b c+d', 'abc')).ETag).toBe(`"${md5('abc', 'hex')}"`)
    expect(await textOf('a/b c+d')).toBe('abc')
    expect(await textOf('a/b c+d', { Range: 'bytes=1-1' })).toBe('b')
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'a/b c+d' }))
    await expect(textOf('a/b c+d')).rejects.toMatchObject({ name: 'NoSuchKey' })
    await expect(client.send(new HeadObjectCommand({ Bucket, Key: 'x' }))).rejects.toMatchObject({ name: 'NotFound' })
  })

  test('refuses who does not have the key, says the wrong region, or comes from another time', async () => {
    const { accessKeyId, secretAccessKey } = s3.credentials
    const ask = (other: S3Client) => other.send(new ListObjectsV2Command({ Bucket })).finally(() => other.destroy())
    await expect(ask(clientOf({ accessKeyId, secretAccessKey: 'wrong' }))).rejects.toMatchObject({
      name: 'SignatureDoesNotMatch',
    })
    await expect(ask(clientOf({ accessKeyId: 'nobody', secretAccessKey }))).rejects.toMatchObject({
      name: 'InvalidAccessKeyId',
    })
    await expect(ask(clientOf(s3.credentials, 'eu-central-1'))).rejects.toMatchObject({
      name: 'AuthorizationHeaderMalformed',
    })
    await start({ now: () => Date.now() + 16 * 60_000 })
    await expect(ask(clientOf(s3.credentials))).rejects.toMatchObject({ name: 'RequestTimeTooSkewed' })
    expect((await fetch(`${s3.url}/bucket?list-type=2`)).status).toBe(403)
  })

  test('refuses a request that was changed after it was signed', async () => {
    const changes: ((headers: Record<string, string>) => void)[] = [
      (headers) => Object.assign(headers, { 'x-amz-content-sha256': createHash('sha256').update('x').digest('hex') }),
      (headers) => Object.assign(headers, { 'x-amz-meta-added': 'later' }),
      (headers) => Object.assign(headers, { 'content-md5': md5('x', 'base64') }),
    ]
    for (const change of changes) {
      const command = new PutObjectCommand({ Bucket, Key: 'k', Body: 'abc', ContentMD5: md5('abc', 'base64') })
      command.middlewareStack.add(
        (next) => (args) => {
          change((args.request as { headers: Record<string, string> }).headers)
          return next(args)
        },
        { step: 'finalizeRequest', priority: 'low' },
      )
      await expect(client.send(command)).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } })
    }
    expect(s3.objects.size).toBe(0)
  })

  test('holds every digest of a body against the body', async () => {
    await expect(put('k', 'abc', { ContentMD5: md5('abd', 'base64') })).rejects.toMatchObject({ name: 'BadDigest' })
    await expect(put('k', 'abc', { ChecksumSHA256: sha256('abd') })).rejects.toMatchObject({ name: 'BadDigest' })
    expect(s3.objects.size).toBe(0)
    expect((await put('k', 'abc', { ChecksumSHA256: sha256('abc') })).ChecksumSHA256).toBe(sha256('abc'))
    await start({ checksums: 'ignored' })
    await put('k', 'abc', { ChecksumSHA256: sha256('abd') })
    await start({ checksums: 'no' })
    await expect(put('k', 'abc', { ChecksumSHA256: sha256('abc') })).rejects.toMatchObject({ name: 'NotImplemented' })
  })

  test('keeps conditions', async () => {
    const { ETag } = await put('k', 'abc', { IfNoneMatch: '*' })
    await expect(put('k', 'abd', { IfNoneMatch: '*' })).rejects.toMatchObject({ name: 'PreconditionFailed' })
    expect(await textOf('k', { IfMatch: ETag })).toBe('abc')
    await expect(textOf('k', { IfMatch: '"other"' })).rejects.toMatchObject({ name: 'PreconditionFailed' })
    await start({ conditionalPuts: 'no' })
    await expect(put('k', 'abc', { IfNoneMatch: '*' })).rejects.toMatchObject({ name: 'NotImplemented' })
  })

  test('joins parts, and refuses those that are small, missing, out of order or not what was sent', async () => {
    await start({ minPartBytes: 4 })
    const Key = 'k'
    const begin = async () => (await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))).UploadId
    const UploadId = await begin()
    const send = async (PartNumber: number, Body: string) => {
      const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }))
      return { PartNumber, ETag }
    }
    const [first, second, small] = [await send(1, 'abcd'), await send(2, 'ef'), await send(3, 'g')]
    const complete = (Parts: { PartNumber: number; ETag: string | undefined }[]) =>
      client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }))
    await expect(complete([first, second, small])).rejects.toMatchObject({ name: 'EntityTooSmall' })
    await expect(complete([second, first])).rejects.toMatchObject({ name: 'InvalidPartOrder' })
    await expect(complete([first, { PartNumber: 9, ETag: first.ETag }])).rejects.toMatchObject({ name: 'InvalidPart' })
    await expect(complete([{ ...first, ETag: second.ETag }])).rejects.toMatchObject({ name: 'InvalidPart' })
    await expect(textOf(Key)).rejects.toMatchObject({ name: 'NoSuchKey' })
    const digests = Buffer.concat(['abcd', 'ef'].map((text) => Buffer.from(md5(text, 'hex'), 'hex')))
    expect((await complete([first, second])).ETag).toBe(`"${md5(digests, 'hex')}-2"`)
    expect(await textOf(Key)).toBe('abcdef')
    await expect(complete([first])).rejects.toMatchObject({ name: 'NoSuchUpload' })
    const aborted = { Bucket, Key, UploadId: await begin() }
    await client.send(new AbortMultipartUploadCommand(aborted))
    await expect(client.send(new AbortMultipartUploadCommand(aborted))).rejects.toMatchObject({ name: 'NoSuchUpload' })
  })

  test('wants the checksums of parts that were announced', async () => {
    const { UploadId } = await client.send(
      new CreateMultipartUploadCommand({ Bucket, Key: 'k', ChecksumAlgorithm: 'SHA256' }),
    )
    const part = { Bucket, Key: 'k', UploadId, PartNumber: 1, Body: 'abc' }
    await expect(client.send(new UploadPartCommand(part))).rejects.toMatchObject({ name: 'InvalidRequest' })
    const { ETag } = await client.send(new UploadPartCommand({ ...part, ChecksumSHA256: sha256('abc') }))
    const complete = (more: object) =>
      client.send(
        new CompleteMultipartUploadCommand({
          Bucket,
          Key: 'k',
          UploadId,
          MultipartUpload: { Parts: [{ PartNumber: 1, ETag, ...more }] },
        }),
      )
    await expect(complete({})).rejects.toMatchObject({ name: 'InvalidPart' })
    await complete({ ChecksumSHA256: sha256('abc') })
  })

  test('copies objects and windows of them', async () => {
    await put('from', 'abcdef')
    const CopySource = 'bucket/from'
    const copied = await client.send(
      new CopyObjectCommand({ Bucket, Key: 'to', CopySource, ChecksumAlgorithm: 'SHA256' }),
    )
    expect(copied.CopyObjectResult?.ChecksumSHA256).toBe(sha256('abcdef'))
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'window' }))
    const part = { Bucket, Key: 'window', UploadId, PartNumber: 1, CopySource, CopySourceRange: 'bytes=2-3' }
    const { CopyPartResult } = await client.send(new UploadPartCopyCommand(part))
    const Parts = [{ PartNumber: 1, ETag: CopyPartResult?.ETag }]
    await client.send(
      new CompleteMultipartUploadCommand({ Bucket, Key: 'window', UploadId, MultipartUpload: { Parts } }),
    )
    expect([await textOf('to'), await textOf('window')]).toEqual(['abcdef', 'cd'])
    const absent = new CopyObjectCommand({ Bucket, Key: 'to', CopySource: 'bucket/nothing' })
    await expect(client.send(absent)).rejects.toMatchObject({ name: 'NoSuchKey' })
  })

  test('lists in order, by prefix, in groups and in pages', async () => {
    for (const key of ['b/2', 'a', 'b/1', 'c/3/x', 'c/1', 'd']) await put(key, '.')
    const list = async (more: object) => {
      const found: string[] = []
      let page: { NextContinuationToken?: string | undefined } | undefined
      do {
        const ContinuationToken = page?.NextContinuationToken
        const input = { Bucket, ...more, ...(ContinuationToken === undefined ? {} : { ContinuationToken }) }
        const answer = await client.send(new ListObjectsV2Command(input))
        for (const { Prefix } of answer.CommonPrefixes ?? []) found.push(String(Prefix))
        for (const { Key } of answer.Contents ?? []) found.push(String(Key))
        page = answer
      } while (page.NextContinuationToken !== undefined)
      return found
    }
    expect(await list({})).toEqual(['a', 'b/1', 'b/2', 'c/1', 'c/3/x', 'd'])
    expect(await list({ MaxKeys: 1, StartAfter: 'b/1' })).toEqual(['b/2', 'c/1', 'c/3/x', 'd'])
    expect(await list({ MaxKeys: 1, Delimiter: '/' })).toEqual(['a', 'b/', 'c/', 'd'])
    expect(await list({ Prefix: 'c/', Delimiter: '/' })).toEqual(['c/3/', 'c/1'])
  })

  test('lists uploads in pages', async () => {
    for (const Key of ['b', 'a', 'b', 'x']) await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))
    const first = await client.send(new ListMultipartUploadsCommand({ Bucket, MaxUploads: 2 }))
    const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = first
    const rest = await client.send(new ListMultipartUploadsCommand({ Bucket, KeyMarker, UploadIdMarker }))
    expect([first.IsTruncated, rest.IsTruncated]).toEqual([true, false])
    expect([...(first.Uploads ?? []), ...(rest.Uploads ?? [])].map(({ Key }) => Key)).toEqual(['a', 'b', 'b', 'x'])
    const ids = [...(first.Uploads ?? []), ...(rest.Uploads ?? [])].map((upload) => upload.UploadId)
    expect(new Set(ids).size).toBe(4)
    const prefixed = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: 'b' }))
    expect(prefixed.Uploads).toHaveLength(2)
  })
})

describe('FakeFaults', () => {
  test('meets requests once each, of the kind that was named, and is cleared', async () => {
    s3.faults.failNext(1, { status: 500, code: 'InternalError', on: 'GetObject' })
    await put('k', 'abc')
    await expect(textOf('k')).rejects.toMatchObject({ name: 'InternalError' })
    expect(await textOf('k')).toBe('abc')
    s3.faults.failNext(5, { status: 500, code: 'InternalError' })
    s3.faults.outage = 'refused'
    s3.faults.clear()
    expect(await textOf('k')).toBe('abc')
  })

  test('stores and answers nothing, answers and stores nothing, and slows down at its rate', async () => {
    s3.faults.dropNextAnswer('PutObject')
    await expect(put('k', 'abc')).rejects.toThrow()
    expect(await textOf('k')).toBe('abc')
    s3.faults.loseNext('PutObject')
    await put('lost', 'abc')
    await expect(textOf('lost')).rejects.toMatchObject({ name: 'NoSuchKey' })
    s3.faults.slowDownRate = 0.5
    const draws = [0.4, 0.6, 0.49]
    s3.faults.random = () => draws.shift() ?? 1
    const outcomes = await Promise.allSettled([textOf('k')])
    expect(outcomes[0]?.status).toBe('rejected')
    expect(await textOf('k')).toBe('abc')
    await expect(textOf('k')).rejects.toMatchObject({ name: 'SlowDown' })
  })
})
