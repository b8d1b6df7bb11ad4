import type { MetFaults } from './fake-faults.ts'
import { digestOf, type FakeObject, type FakeState, objectOf } from './fake-state.ts'
import { headerOf, S3Refusal, type S3Request } from './s3-request.ts'
import { xmlDocument } from './xml.ts'

/** What is sent back. */
export interface FakeAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer | string
}

export function putObject(state: FakeState, request: S3Request, faults: MetFaults): FakeAnswer {
  const { objects, rules } = state
  if (headerOf(request, 'if-none-match') === '*' && rules.conditionalPuts === 'yes' && objects.has(request.key)) {
    throw new S3Refusal(412, 'PreconditionFailed')
  }
  const checksum = rules.checksums === 'yes' ? headerOf(request, 'x-amz-checksum-sha256') : undefined
  const object = { ...objectOf(bodyOf(request, faults), rules, checksum), metadata: metadataOf(request) }
  if (!faults.isLost) objects.set(request.key, object)
  return { status: 200, headers: { etag: `"${object.etag}"`, ...checksumHeader(checksum) } }
}

/** The bytes that are stored for this request. */
export function bodyOf({ body }: S3Request, { isDamaged }: MetFaults): Buffer {
  const bytes = Buffer.from(body)
  return isDamaged ? flipped(bytes) : bytes
}

export function headObject(state: FakeState, request: S3Request, { isStale }: MetFaults): FakeAnswer {
  const { bytes, ...object } = requireObject(state, request.key)
  requireMatch(request, object.etag, 'if-match')
  const length = isStale ? bytes.length + 7 : bytes.length
  return { status: 200, headers: { ...describing(request, object), 'content-length': String(length) } }
}

export function getObject(state: FakeState, request: S3Request, faults: MetFaults): FakeAnswer {
  const object = requireObject(state, request.key)
  requireMatch(request, object.etag, 'if-match')
  const { bytes } = object
  const range = faults.corruption === 'ignore-range' ? undefined : headerOf(request, 'range')
  const [first, end] = range === undefined ? [0, bytes.length] : windowOf(range, bytes.length)
  const headers = {
    ...describing(request, object),
    ...overrides(request),
    ...(range === undefined ? {} : { 'content-range': `bytes ${first}-${end - 1}/${bytes.length}` }),
  }
  const body = corrupted(Buffer.from(bytes.subarray(first, end)), faults)
  return { status: range === undefined ? 200 : 206, headers, body }
}

export function deleteObject(state: FakeState, request: S3Request): FakeAnswer {
  state.objects.delete(request.key)
  return { status: 204 }
}

export function copyObject(state: FakeState, request: S3Request, faults: MetFaults): FakeAnswer {
  const source = copySource(state, request)
  const wantsChecksum = state.rules.checksums === 'yes' && headerOf(request, 'x-amz-checksum-algorithm') === 'SHA256'
  const checksum = wantsChecksum ? digestOf('sha256', source.bytes, 'base64') : undefined
  const object = { ...objectOf(source.bytes, state.rules, checksum), metadata: source.metadata ?? {} }
  if (!faults.isLost) state.objects.set(request.key, object)
  return {
    status: 200,
    body: xmlDocument('CopyObjectResult', {
      ETag: `"${object.etag}"`,
      LastModified: object.modifiedAt.toISOString(),
      ...(checksum === undefined ? {} : { ChecksumSHA256: checksum }),
    }),
  }
}

/** The object that a copy is of. @throws {S3Refusal} `NoSuchKey`, `NoSuchBucket`, `PreconditionFailed`. */
export function copySource(state: FakeState, request: S3Request): FakeObject {
  const path = decodeURIComponent(headerOf(request, 'x-amz-copy-source') ?? '').replace(/^\//, '')
  const [bucket = '', ...rest] = path.split('/')
  if (bucket !== state.bucket) throw new S3Refusal(404, 'NoSuchBucket')
  const source = requireObject(state, rest.join('/'))
  requireMatch(request, source.etag, 'x-amz-copy-source-if-match')
  return source
}

/** The headers that are kept with what is put. */
export function metadataOf({ headers }: S3Request): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-meta-'))
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]))
}

function requireObject({ objects }: FakeState, key: string): FakeObject {
  const object = objects.get(key)
  if (object === undefined) throw new S3Refusal(404, 'NoSuchKey')
  return object
}

function requireMatch(request: S3Request, etag: string, header: string): void {
  const wanted = headerOf(request, header)
  if (wanted !== undefined && wanted !== '*' && wanted.replaceAll('"', '') !== etag) {
    throw new S3Refusal(412, 'PreconditionFailed')
  }
}

/** First byte, and the one after the last. */
export function windowOf(range: string, sizeBytes: number): [number, number] {
  const found = /^bytes=(\d+)-(\d*)$/.exec(range)
  const first = Number(found?.[1] ?? Number.NaN)
  const last = found?.[2] === '' ? sizeBytes - 1 : Number(found?.[2] ?? Number.NaN)
  if (!(first < sizeBytes) || !(first <= last)) throw new S3Refusal(416, 'InvalidRange')
  return [first, Math.min(last + 1, sizeBytes)]
}

function describing(request: S3Request, object: Omit<FakeObject, 'bytes'>): Record<string, string> {
  const isAsked = headerOf(request, 'x-amz-checksum-mode') === 'ENABLED'
  return {
    etag: `"${object.etag}"`,
    'last-modified': object.modifiedAt.toUTCString(),
    'accept-ranges': 'bytes',
    'content-type': 'application/octet-stream',
    ...object.metadata,
    ...(isAsked ? checksumHeader(object.checksum) : {}),
  }
}

/** `response-content-type` and its like, which only signed requests may ask for. */
function overrides({ query }: S3Request): Record<string, string> {
  const names = ['content-type', 'content-disposition', 'cache-control']
  const asked = names.map((name) => [name, query.get(`response-${name}`)] as const)
  return Object.fromEntries(asked.filter((pair): pair is [string, string] => pair[1] !== undefined))
}

function checksumHeader(checksum: string | undefined): Record<string, string> {
  return checksum === undefined ? {} : { 'x-amz-checksum-sha256': checksum }
}

function corrupted(bytes: Buffer, { corruption }: MetFaults): Buffer {
  if (corruption === 'flip') return flipped(bytes)
  if (corruption === 'truncate') return bytes.subarray(0, Math.max(0, bytes.length - 1))
  if (corruption === 'long') return Buffer.concat([bytes, Buffer.from('x')])
  return corruption === 'swap' ? Buffer.alloc(bytes.length, 'swapped') : bytes
}

/** The same memory with one bit in its middle changed. */
function flipped(bytes: Buffer): Buffer {
  const middle = bytes.length >> 1
  if (bytes.length > 0) bytes[middle] = (bytes[middle] ?? 0) ^ 1
  return bytes
}
