import {
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { s3Client, startCeph } from './ceph.ts'

test('Ceph keeps an object in a new bucket, forgets what is under a prefix, and is gone in the end', {
  timeout: 180_000,
}, async () => {
  const ceph = await startCeph()
  try {
    await ceph.createBucket('lade')
    await ceph.createBucket('lade')
    const client = s3Client(ceph.endpoint)
    await client.send(new PutObjectCommand({ Bucket: 'lade', Key: 'kept', Body: 'hello' }))
    const { Body } = await client.send(new GetObjectCommand({ Bucket: 'lade', Key: 'kept' }))
    expect(await Body?.transformToString()).toBe('hello')

    await client.send(new PutObjectCommand({ Bucket: 'lade', Key: 'gone/1', Body: 'hello' }))
    await client.send(new CreateMultipartUploadCommand({ Bucket: 'lade', Key: 'gone/2' }))
    await ceph.empty('lade', 'gone')
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: 'lade' }))
    expect(Contents.map(({ Key }) => Key)).toEqual(['kept'])
    expect((await client.send(new ListMultipartUploadsCommand({ Bucket: 'lade' }))).Uploads ?? []).toEqual([])
    client.destroy()
  } finally {
    await ceph.discard()
  }
  await expect(fetch(ceph.endpoint)).rejects.toThrow()
})
