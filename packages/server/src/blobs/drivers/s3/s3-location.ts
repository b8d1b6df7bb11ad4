import { GetObjectCommand } from '@aws-sdk/client-s3'
import { SignatureV4 } from '@smithy/signature-v4'
import type { BlobLocation, LocationHeaders } from '../../blob-store.ts'
import type { S3Calls } from './s3-calls.ts'
import { failureOf } from './sdk-error.ts'

/** A request as far as a URL is made of it. */
interface Addressed {
  readonly method: string
  readonly protocol: string
  readonly hostname: string
  readonly port?: number
  readonly path: string
  readonly query: Record<string, string>
  readonly headers: Record<string, string>
}

/**
 * A URL by which the object can be read without credentials until `expiresAt`, in milliseconds since the epoch.
 *
 * It is signed for GET; S3 refuses it for HEAD. It lives no longer than the credentials it is signed with.
 */
export async function locateObject(calls: S3Calls, key: string, headers: LocationHeaders): Promise<BlobLocation> {
  const { now, redirectSeconds } = calls.settings
  const { credentials, region, sha256 } = calls.client.config
  try {
    const request = await addressOf(calls, key, headers)
    const identity = await credentials()
    const startedAt = now()
    const leftSeconds = Math.floor(((identity.expiration?.getTime() ?? Number.POSITIVE_INFINITY) - startedAt) / 1000)
    const expiresIn = Math.max(1, Math.min(redirectSeconds, leftSeconds))
    // S3 takes a path as it is sent: encoding it once more for the signature, as elsewhere at AWS, would be wrong.
    const signer = new SignatureV4({ service: 's3', region, credentials: identity, sha256, uriEscapePath: false })
    const signed = await signer.presign(request, { expiresIn, signingDate: new Date(startedAt) })
    const url = urlOf({ ...request, query: signed.query as Record<string, string> })
    // The signature counts from a whole second.
    return { kind: 'url', url, expiresAt: Math.floor(startedAt / 1000) * 1000 + expiresIn * 1000 }
  } catch (error) {
    throw failureOf('Presign', error)
  }
}

/** The request that the SDK would send, with nothing in it but what has to be signed. */
async function addressOf(calls: S3Calls, key: string, headers: LocationHeaders): Promise<Addressed> {
  const command = new GetObjectCommand({
    Bucket: calls.settings.bucket,
    Key: key,
    ResponseContentType: headers.contentType,
    ResponseContentDisposition: headers.contentDisposition,
    ResponseCacheControl: headers.cacheControl,
  })
  let caught: Addressed | undefined
  command.middlewareStack.add(
    () => async (args) => {
      caught = args.request as Addressed
      return { output: { $metadata: {} }, response: {} }
    },
    { step: 'finalizeRequest', priority: 'high', name: 'catchBeforeSigning' },
  )
  await calls.client.send(command)
  if (caught === undefined) throw new TypeError('The SDK made no request.')
  const { 'x-id': _, ...query } = caught.query
  const host = caught.port === undefined ? caught.hostname : `${caught.hostname}:${caught.port}`
  return { ...caught, query, headers: { host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } }
}

function urlOf({ protocol, headers, path, query }: Addressed): string {
  const pairs = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
  return `${protocol}//${headers.host}${path}?${pairs.join('&')}`
}

/** As signatures want it: everything but unreserved characters as %XX, a blank too. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}
