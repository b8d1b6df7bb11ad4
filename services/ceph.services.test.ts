import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { s3Client, startCeph } from './ceph.ts'

test('Ceph keeps an object in a new bucket, and is gone in the end', { timeout: 180_000 }, async () => {
  const ceph = await startCeph()
  try {
    await ceph.createBucket('lade')
    await ceph.createBucket('lade')
    const client = s3Client(ceph.endpoint)
    await client.send(new PutObjectCommand({ Bucket: 'lade', Key: 'kept', Body: 'hello' }))
    const { Body } = await client.send(new GetObjectCommand({ Bucket: 'lade', Key: 'kept' }))
    expect(await Body?.transformToString()).toBe('hello')
    client.destroy()
  } finally {
    await ceph.discard()
  }
  await expect(fetch(ceph.endpoint)).rejects.toThrow()
})
