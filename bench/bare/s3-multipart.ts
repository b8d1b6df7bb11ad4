/**
 * Bare loop: puts bodies into a bucket with the SDK's own requests. A body of several parts goes as a multipart upload with four parts in
 * parallel, any other by one request. It has no HTTP in front, no content id, no quota and no records.
 *
 * Argument: {@link S3MultipartInput} as JSON. Prints {@link S3MultipartResult} as JSON.
 */
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { s3Client } from '../../services/ceph.ts'
import { readMachineBusySeconds } from '../process-usage.ts'
import type { Latency } from '../sample.ts'
import { bigBodyBlocks } from '../stamped-body.ts'
import { percentile } from '../statistics.ts'

export interface S3MultipartInput {
  endpoint: string
  bucket: string
  /** In front of every key. */
  prefix: string
  seed: number
  bodies: number
  bodiesAtOnce: number
  sizeBytes: number
  partBytes: number
  /** Sent as one body before the clock starts. */
  warmUpBytes: number
}

export interface S3MultipartResult {
  /** Bodies that the store has acknowledged. */
  completed: number
  seconds: number
  latencyMs: Latency
  machineBusySeconds: number
}

const PARTS_AT_ONCE = 4

const input: S3MultipartInput = JSON.parse(process.argv[2] ?? '')
const { bucket, prefix, partBytes } = input
const client: S3Client = s3Client(new URL(input.endpoint))

/** Parts, each in a buffer of its own, made when they are asked for. */
function* partsOf(seed: number, sizeBytes: number): Generator<Buffer> {
  let part = Buffer.allocUnsafeSlow(Math.min(partBytes, sizeBytes))
  let filledBytes = 0
  let leftBytes = sizeBytes
  for (const block of bigBodyBlocks(seed, sizeBytes)) {
    filledBytes += block.copy(part, filledBytes)
    if (filledBytes < part.length) continue
    yield part
    leftBytes -= filledBytes
    part = Buffer.allocUnsafeSlow(Math.min(partBytes, leftBytes))
    filledBytes = 0
  }
}

async function sendBody(key: string, seed: number, sizeBytes: number): Promise<void> {
  const parts = partsOf(seed, sizeBytes)
  const at = { Bucket: bucket, Key: `${prefix}${key}` }
  if (sizeBytes <= partBytes) {
    for (const part of parts) await client.send(new PutObjectCommand({ ...at, Body: part }))
    return
  }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(at))
  const stored: { PartNumber: number; ETag: string | undefined }[] = []
  let number = 0
  const sendParts = async () => {
    for (const part of parts) {
      number++
      const PartNumber = number
      const { ETag } = await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body: part }))
      stored.push({ PartNumber, ETag })
    }
  }
  await Promise.all(Array.from({ length: PARTS_AT_ONCE }, sendParts))
  const Parts = stored.sort((one, other) => one.PartNumber - other.PartNumber)
  await client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }))
}

await sendBody('warm-up', input.seed + 1_000_000, input.warmUpBytes)
const latenciesMs: number[] = []
let begun = 0
const sendBodies = async () => {
  while (begun < input.bodies) {
    const number = begun++
    const startedAt = performance.now()
    await sendBody(String(number), input.seed + number, input.sizeBytes)
    latenciesMs.push(performance.now() - startedAt)
  }
}
const busyBefore = readMachineBusySeconds()
const startedAt = performance.now()
await Promise.all(Array.from({ length: input.bodiesAtOnce }, sendBodies))
const seconds = (performance.now() - startedAt) / 1000
client.destroy()
const result: S3MultipartResult = {
  completed: latenciesMs.length,
  seconds,
  latencyMs: { p50: percentile(latenciesMs, 0.5), p99: percentile(latenciesMs, 0.99) },
  machineBusySeconds: readMachineBusySeconds() - busyBefore,
}
console.log(JSON.stringify(result))
