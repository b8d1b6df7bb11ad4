import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type FakeFailure, FakeFaults, type MetFaults } from './fake-faults.ts'
import {
  DEFAULT_RULES,
  type FakeObject,
  type FakeRules,
  type FakeState,
  type FakeUpload,
  requireIntact,
  requireKnownHeaders,
} from './fake-state.ts'
import { listMultipartUploads, listObjects } from './listing-calls.ts'
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  uploadPart,
  uploadPartCopy,
} from './multipart-calls.ts'
import { copyObject, deleteObject, type FakeAnswer, getObject, headObject, putObject } from './object-calls.ts'
import { operationOf, readRequest, type S3Operation, S3Refusal, type S3Request } from './s3-request.ts'
import { requireSignature } from './signature.ts'
import { xmlDocument } from './xml.ts'

export interface FakeS3Options extends Partial<FakeRules> {
  /** Milliseconds since the epoch, by which signatures grow old. @default Date.now */
  readonly now?: () => number
}

/** An S3 server in this process, with one bucket. */
export interface FakeS3 {
  /** Where it listens, on a port of 127.0.0.1. */
  readonly url: string
  readonly bucket: string
  readonly region: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** What the bucket holds, by key. Tests may take objects away. */
  readonly objects: Map<string, FakeObject>
  /** Multipart uploads that are under way, by id. */
  readonly uploads: Map<string, FakeUpload>
  readonly faults: FakeFaults
  /** What was asked for, in order, also what was then refused. */
  readonly requests: S3Operation[]
  close(): Promise<void>
}

type Call = (state: FakeState, request: S3Request, faults: MetFaults) => FakeAnswer

const CALLS = {
  AbortMultipartUpload: abortMultipartUpload,
  CompleteMultipartUpload: completeMultipartUpload,
  CopyObject: copyObject,
  CreateMultipartUpload: createMultipartUpload,
  DeleteObject: deleteObject,
  GetObject: getObject,
  HeadBucket: () => ({ status: 200 }),
  HeadObject: headObject,
  ListMultipartUploads: listMultipartUploads,
  ListObjectsV2: listObjects,
  PutObject: putObject,
  UploadPart: uploadPart,
  UploadPartCopy: uploadPartCopy,
} as const satisfies Record<S3Operation, Call>

/**
 * Starts a store that is strict where S3 is: signatures (also of presigned URLs) and every digest of a body are checked,
 * conditions are kept, parts and their order held against what came, lists paged, and errors said in XML.
 *
 * It has one bucket, `bucket`, in region `us-east-1`, and keeps everything in memory. Paths only, no host names for buckets.
 *
 * @example
 * const s3 = await startFakeS3({ minPartBytes: 5 * 1024 * 1024 })
 * s3.faults.failNext(2, { status: 503, code: 'SlowDown' })
 * await s3.close()
 */
export async function startFakeS3(options: FakeS3Options = {}): Promise<FakeS3> {
  const { now = Date.now, ...rules } = options
  const faults = new FakeFaults()
  const requests: S3Operation[] = []
  const credentials = { accessKeyId: 'test', secretAccessKey: 'testing' }
  const region = 'us-east-1'
  const state: FakeState = {
    bucket: 'bucket',
    objects: new Map(),
    uploads: new Map(),
    rules: { ...DEFAULT_RULES, ...rules },
  }

  async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(message)
    const operation = operationOf(request)
    requests.push(operation)
    if (faults.outage === 'silent') return
    if (faults.outage === 'refused') return void message.socket.destroy()
    if (faults.outage === 'unavailable') return fail(response, { status: 503, code: 'ServiceUnavailable' })
    const met = faults.meet(operation)
    await met.delay?.()
    if (met.failure !== undefined) return fail(response, met.failure)
    requireSignature(request, { ...credentials, region, now })
    if (request.bucket !== state.bucket) throw new S3Refusal(404, 'NoSuchBucket')
    requireKnownHeaders(request, state.rules)
    requireIntact(request, state.rules)
    if (met.codeIn200 !== undefined) return void response.writeHead(200).end(errorDocument(met.codeIn200))
    const made = CALLS[operation](state, request, met)
    if (met.dropsAnswer) return void message.socket.destroy()
    send(response, made, met)
  }

  const server = createServer((message, response) => {
    answer(message, response).catch((error: unknown) => {
      if (error instanceof S3Refusal) fail(response, error)
      // Whoever asked has gone, or the test has a mistake that it has to see.
      else if (!message.socket.destroyed) fail(response, { status: 599, code: `FakeIsBroken: ${String(error)}` })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    bucket: state.bucket,
    region,
    credentials,
    objects: state.objects,
    uploads: state.uploads,
    faults,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function send(response: ServerResponse, { status, headers = {}, body = '' }: FakeAnswer, faults: MetFaults): void {
  const bytes = Buffer.from(body)
  const length = headers['content-length'] === undefined ? { 'content-length': String(bytes.length) } : {}
  response.writeHead(status, { ...headers, ...length })
  if (faults.cutAfterBytes === undefined) return void response.end(bytes)
  response.write(bytes.subarray(0, faults.cutAfterBytes), () => response.destroy())
}

function fail(response: ServerResponse, { status, code, retryAfterSeconds, asHtml = false }: FakeFailure): void {
  const wait = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }
  response.writeHead(status, { 'content-type': asHtml ? 'text/html' : 'application/xml', ...wait })
  response.end(asHtml ? `<html><head></head><body><h1>${status}</h1></body></html>` : errorDocument(code))
}

function errorDocument(code: string): string {
  return xmlDocument('Error', { Code: code, Message: code, RequestId: 'fake' })
}
