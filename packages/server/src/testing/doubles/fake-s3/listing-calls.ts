import type { FakeState } from './fake-state.ts'
import type { FakeAnswer } from './object-calls.ts'
import type { S3Request } from './s3-request.ts'
import { xmlDocument } from './xml.ts'

const MOST_ENTRIES = 1000

export function listObjects({ bucket, objects }: FakeState, { query }: S3Request): FakeAnswer {
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter') ?? ''
  const token = query.get('continuation-token')
  const after = token === undefined ? (query.get('start-after') ?? '') : Buffer.from(token, 'base64url').toString()
  const most = mostOf(query.get('max-keys'))
  const contents = []
  const common = new Set<string>()
  let last = ''
  let isTruncated = false
  for (const key of [...objects.keys()].sort()) {
    if (!key.startsWith(prefix) || key <= after) continue
    const cut = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
    const group = cut < 0 ? undefined : key.slice(0, cut + delimiter.length)
    // A token that ends in a group stands for all keys of that group.
    if (group !== undefined && (common.has(group) || after.startsWith(group))) continue
    if (contents.length + common.size === most) {
      isTruncated = true
      break
    }
    last = group ?? key
    if (group !== undefined) {
      common.add(group)
      continue
    }
    const object = objects.get(key)
    if (object === undefined) continue
    const LastModified = object.modifiedAt.toISOString()
    contents.push({ Key: key, Size: object.bytes.length, ETag: `"${object.etag}"`, LastModified })
  }
  return {
    status: 200,
    body: xmlDocument('ListBucketResult', {
      Name: bucket,
      Prefix: prefix,
      KeyCount: contents.length + common.size,
      MaxKeys: most,
      IsTruncated: isTruncated,
      ...(isTruncated ? { NextContinuationToken: Buffer.from(last).toString('base64url') } : {}),
      Contents: contents,
      CommonPrefixes: [...common].map((Prefix) => ({ Prefix })),
    }),
  }
}

export function listMultipartUploads({ bucket, uploads }: FakeState, { query }: S3Request): FakeAnswer {
  const prefix = query.get('prefix') ?? ''
  const marker = [query.get('key-marker') ?? '', query.get('upload-id-marker') ?? '']
  const most = mostOf(query.get('max-uploads'))
  const all = [...uploads.values()]
    .filter(({ key, id }) => key.startsWith(prefix) && isAfter([key, id], marker))
    .sort((a, b) => (isAfter([a.key, a.id], [b.key, b.id]) ? 1 : -1))
  const page = all.slice(0, most)
  const last = page.at(-1)
  return {
    status: 200,
    body: xmlDocument('ListMultipartUploadsResult', {
      Bucket: bucket,
      IsTruncated: all.length > page.length,
      NextKeyMarker: last?.key ?? '',
      NextUploadIdMarker: last?.id ?? '',
      Upload: page.map(({ key, id, startedAt }) => ({ Key: key, UploadId: id, Initiated: startedAt.toISOString() })),
    }),
  }
}

function isAfter([key = '', id = '']: readonly string[], [markerKey = '', markerId = '']: readonly string[]): boolean {
  return key > markerKey || (key === markerKey && id > markerId)
}

function mostOf(text: string | undefined): number {
  return Math.min(Number(text ?? MOST_ENTRIES), MOST_ENTRIES)
}
