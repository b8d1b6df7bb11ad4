import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { headerOf, S3Refusal, type S3Request } from './s3-request.ts'

/** Written from the published rules of Signature Version 4 and not from a client's code, so that it can find a client wrong. */

export interface SignatureRules {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly region: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const MOST_SKEW_MS = 15 * 60 * 1000

interface Claim {
  readonly credential: string
  readonly date: string
  readonly signedHeaders: readonly string[]
  readonly signature: string
  readonly payloadHash: string
}

/**
 * Checks who sent a request.
 *
 * @throws {S3Refusal} `AccessDenied`, `InvalidAccessKeyId`, `SignatureDoesNotMatch`, `RequestTimeTooSkewed`.
 */
export function requireSignature(request: S3Request, rules: SignatureRules): void {
  const claim = request.query.has('X-Amz-Signature') ? claimOfQuery(request, rules) : claimOfHeader(request, rules)
  const [accessKeyId = '', day = '', region = '', service = '', end = ''] = claim.credential.split('/')
  if (accessKeyId !== rules.accessKeyId) throw new S3Refusal(403, 'InvalidAccessKeyId')
  if (region !== rules.region) throw new S3Refusal(400, 'AuthorizationHeaderMalformed', `the region is ${rules.region}`)
  if (service !== 's3' || end !== 'aws4_request' || !claim.date.startsWith(day)) {
    throw new S3Refusal(400, 'AuthorizationHeaderMalformed')
  }
  requireAllSigned(request, claim)
  const scope = `${day}/${region}/${service}/${end}`
  const text = ['AWS4-HMAC-SHA256', claim.date, scope, sha256(canonicalRequest(request, claim))].join('\n')
  const key = [day, region, service, end].reduce<Buffer>(hmac, Buffer.from(`AWS4${rules.secretAccessKey}`))
  const expected = hmac(key, text)
  const offered = Buffer.from(claim.signature, 'hex')
  if (offered.length !== expected.length || !timingSafeEqual(offered, expected)) {
    throw new S3Refusal(403, 'SignatureDoesNotMatch')
  }
}

function claimOfHeader(request: S3Request, { now }: SignatureRules): Claim {
  const authorization = headerOf(request, 'authorization') ?? ''
  const found = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
    authorization,
  )
  const [, credential, signedHeaders, signature] = found ?? []
  if (credential === undefined || signedHeaders === undefined || signature === undefined) {
    throw new S3Refusal(403, 'AccessDenied', 'this request is not signed')
  }
  const date = headerOf(request, 'x-amz-date') ?? ''
  const payloadHash = headerOf(request, 'x-amz-content-sha256')
  if (payloadHash === undefined) throw new S3Refusal(400, 'InvalidRequest', 'x-amz-content-sha256 is missing')
  if (Math.abs(now() - timeOf(date)) > MOST_SKEW_MS) throw new S3Refusal(403, 'RequestTimeTooSkewed')
  return { credential, date, signedHeaders: signedHeaders.split(';'), signature, payloadHash }
}

function claimOfQuery({ query }: S3Request, { now }: SignatureRules): Claim {
  const of = (name: string) => query.get(`X-Amz-${name}`) ?? ''
  const date = of('Date')
  const isOver = now() > timeOf(date) + Number(of('Expires')) * 1000
  if (of('Algorithm') !== 'AWS4-HMAC-SHA256' || isOver) throw new S3Refusal(403, 'AccessDenied', 'Request has expired')
  return {
    credential: of('Credential'),
    date,
    signedHeaders: of('SignedHeaders').split(';'),
    signature: of('Signature'),
    payloadHash: 'UNSIGNED-PAYLOAD',
  }
}

/** "host" and every x-amz-* header have to be signed, or they could be changed on their way. */
function requireAllSigned({ headers }: S3Request, { signedHeaders }: Claim): void {
  for (const name of Object.keys(headers)) {
    const isCovered = name !== 'host' && name !== 'content-md5' && !name.startsWith('x-amz-')
    if (!isCovered && !signedHeaders.includes(name)) {
      throw new S3Refusal(403, 'AccessDenied', `the header ${name} is not signed`)
    }
  }
}

function canonicalRequest(request: S3Request, { signedHeaders, payloadHash }: Claim): string {
  const path = request.path
    .split('/')
    .map((segment) => encoded(decodeURIComponent(segment)))
    .join('/')
  const query = [...request.query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&')
  const headers = signedHeaders.map((name) => `${name}:${(headerOf(request, name) ?? '').trim().replace(/ +/g, ' ')}\n`)
  return [request.method, path, query, headers.join(''), signedHeaders.join(';'), payloadHash].join('\n')
}

/** Everything but unreserved characters as %XX. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** `20261121T223051Z` as milliseconds. */
function timeOf(date: string): number {
  return Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
