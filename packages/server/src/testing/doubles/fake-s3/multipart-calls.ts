import { randomBytes } from 'node:crypto'
import type { MetFaults } from './fake-faults.ts'
import { digestOf, type FakeObject, type FakeState, type FakeUpload, objectOf } from './fake-state.ts'
import { bodyOf, copySource, type FakeAnswer, metadataOf, windowOf } from './object-calls.ts'
import { headerOf, S3Refusal, type S3Request } from './s3-request.ts'
import { elementsOf, textOf, xmlDocument } from './xml.ts'

const MOST_PARTS = 10_000

export function createMultipartUpload(state: FakeState, request: S3Request): FakeAnswer {
  const id = randomBytes(12).toString('base64url')
  state.uploads.set(id, {
    id,
    key: request.key,
    startedAt: new Date(),
    wantsChecksums: state.rules.checksums === 'yes' && headerOf(request, 'x-amz-checksum-algorithm') === 'SHA256',
    metadata: metadataOf(request),
    parts: new Map(),
  })
  return {
    status: 200,
    body: xmlDocument('InitiateMultipartUploadResult', { Bucket: state.bucket, Key: request.key, UploadId: id }),
  }
}

export function uploadPart(state: FakeState, request: S3Request, faults: MetFaults): FakeAnswer {
  const upload = requireUpload(state, request)
  const checksum = state.rules.checksums === 'yes' ? headerOf(request, 'x-amz-checksum-sha256') : undefined
  if (upload.wantsChecksums && checksum === undefined)
    throw new S3Refusal(400, 'InvalidRequest', 'a checksum is missing')
  const part = objectOf(bodyOf(request, faults), state.rules, checksum)
  upload.parts.set(partNumberOf(request), part)
  const headers = { etag: `"${part.etag}"`, ...(checksum === undefined ? {} : { 'x-amz-checksum-sha256': checksum }) }
  return { status: 200, headers }
}

export function uploadPartCopy(state: FakeState, request: S3Request): FakeAnswer {
  const upload = requireUpload(state, request)
  const { bytes } = copySource(state, request)
  const range = headerOf(request, 'x-amz-copy-source-range')
  const [first, end] = range === undefined ? [0, bytes.length] : windowOf(range, bytes.length)
  const part = objectOf(Buffer.from(bytes.subarray(first, end)), state.rules)
  upload.parts.set(partNumberOf(request), part)
  return {
    status: 200,
    body: xmlDocument('CopyPartResult', { ETag: `"${part.etag}"`, LastModified: part.modifiedAt.toISOString() }),
  }
}

export function completeMultipartUpload(state: FakeState, request: S3Request, faults: MetFaults): FakeAnswer {
  const upload = requireUpload(state, request)
  const parts = namedParts(request.body.toString(), upload)
  for (const part of parts.slice(0, -1)) {
    if (part.bytes.length < state.rules.minPartBytes) throw new S3Refusal(400, 'EntityTooSmall')
  }
  const digests = Buffer.concat(parts.map(({ bytes }) => Buffer.from(digestOf('md5', bytes, 'hex'), 'hex')))
  const isMd5 = state.rules.etags === 'md5'
  const etag = isMd5
    ? `${digestOf('md5', digests, 'hex')}-${parts.length}`
    : `${digestOf('sha256', digests, 'hex').slice(0, 32)}-${parts.length}`
  const bytes = Buffer.concat(parts.map((part) => part.bytes))
  if (!faults.isLost) state.objects.set(upload.key, { bytes, etag, modifiedAt: new Date(), metadata: upload.metadata })
  state.uploads.delete(upload.id)
  const stated = state.rules.etagOfComplete === 'stated' ? `"${etag}"` : ''
  return {
    status: 200,
    body: xmlDocument('CompleteMultipartUploadResult', { Bucket: state.bucket, Key: upload.key, ETag: stated }),
  }
}

export function abortMultipartUpload(state: FakeState, request: S3Request): FakeAnswer {
  state.uploads.delete(requireUpload(state, request).id)
  return { status: 204 }
}

function requireUpload({ uploads }: FakeState, { key, query }: S3Request): FakeUpload {
  const upload = uploads.get(query.get('uploadId') ?? '')
  if (upload === undefined || upload.key !== key) throw new S3Refusal(404, 'NoSuchUpload')
  return upload
}

function partNumberOf({ query }: S3Request): number {
  const number = Number(query.get('partNumber'))
  if (Number.isInteger(number) && number >= 1 && number <= MOST_PARTS) return number
  throw new S3Refusal(400, 'InvalidArgument', 'part numbers go from 1 to 10000')
}

/** The parts that a completion names, each held against its ETag. */
function namedParts(xml: string, upload: FakeUpload): FakeObject[] {
  const named = elementsOf(xml, 'Part')
  if (named.length === 0) throw new S3Refusal(400, 'MalformedXML')
  let latest = 0
  return named.map((element) => {
    const number = Number(textOf(element, 'PartNumber'))
    if (number <= latest) throw new S3Refusal(400, 'InvalidPartOrder')
    latest = number
    const part = upload.parts.get(number)
    const isSame = part !== undefined && textOf(element, 'ETag')?.replaceAll('"', '') === part.etag
    const isChecked = !upload.wantsChecksums || textOf(element, 'ChecksumSHA256') === part?.checksum
    if (!isSame || !isChecked) throw new S3Refusal(400, 'InvalidPart')
    return part
  })
}
