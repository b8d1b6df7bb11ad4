import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** A refusal as S3 words it: a status, a code and a sentence. */
export class S3Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message = code) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** A request that has arrived whole. */
export interface S3Request {
  readonly method: string
  /** The path as it was sent, still encoded. */
  readonly path: string
  readonly bucket: string
  /** Empty for a request about the bucket. */
  readonly key: string
  readonly query: ReadonlyMap<string, string>
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** One header; undefined when it is missing. */
export function headerOf({ headers }: Pick<S3Request, 'headers'>, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(',') : value
}

/** Takes a request in. @throws {S3Refusal} when its length is not declared, as S3 wants it to be. */
export async function readRequest(message: IncomingMessage): Promise<S3Request> {
  const { method = 'GET', url = '/', headers } = message
  const [path = '/', search = ''] = url.split(/\?(.*)/s)
  const [bucket = '', ...rest] = path.slice(1).split('/')
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  if (headers['transfer-encoding'] !== undefined) throw new S3Refusal(411, 'MissingContentLength')
  return {
    method,
    path,
    bucket: decodeURIComponent(bucket),
    key: decodeURIComponent(rest.join('/')),
    query: queryOf(search),
    headers,
    body: Buffer.concat(chunks),
  }
}

/** `a&b=c` as a map; a plus sign is a plus sign, as in S3's own reading of what was signed. */
function queryOf(search: string): Map<string, string> {
  const query = new Map<string, string>()
  for (const pair of search.split('&')) {
    if (pair === '') continue
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    query.set(decodeURIComponent(name), decodeURIComponent(value))
  }
  return query
}

/** The name that S3 gives to what a request asks for. */
export type S3Operation =
  | 'AbortMultipartUpload'
  | 'CompleteMultipartUpload'
  | 'CopyObject'
  | 'CreateMultipartUpload'
  | 'DeleteObject'
  | 'GetObject'
  | 'HeadBucket'
  | 'HeadObject'
  | 'ListMultipartUploads'
  | 'ListObjectsV2'
  | 'PutObject'
  | 'UploadPart'
  | 'UploadPartCopy'

/** What `request` asks for. @throws {S3Refusal} `NotImplemented`. */
export function operationOf({ method, key, query, headers }: S3Request): S3Operation {
  const isCopy = headers['x-amz-copy-source'] !== undefined
  if (key === '') {
    if (method === 'HEAD') return 'HeadBucket'
    if (method === 'GET' && query.has('uploads')) return 'ListMultipartUploads'
    if (method === 'GET' && query.get('list-type') === '2') return 'ListObjectsV2'
  } else if (query.has('uploadId')) {
    if (method === 'PUT') return isCopy ? 'UploadPartCopy' : 'UploadPart'
    if (method === 'POST') return 'CompleteMultipartUpload'
    if (method === 'DELETE') return 'AbortMultipartUpload'
  } else {
    if (method === 'POST' && query.has('uploads')) return 'CreateMultipartUpload'
    if (method === 'PUT') return isCopy ? 'CopyObject' : 'PutObject'
    if (method === 'GET') return 'GetObject'
    if (method === 'HEAD') return 'HeadObject'
    if (method === 'DELETE') return 'DeleteObject'
  }
  throw new S3Refusal(501, 'NotImplemented')
}
