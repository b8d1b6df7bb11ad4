import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { noneMatchNames } from '../../entity-tag.ts'

const SLICE_BYTES = 64 * 1024

const compress = promisify(gzip)

export interface FixedDocumentOptions {
  readonly contentType: string
  readonly contentSecurityPolicy?: string
  /** How long caches may use it without asking; they ask each time without. */
  readonly maxAgeSeconds?: number
}

/** A document that stays the same while the process runs. It is compressed once, with its first request that wants that, and has an ETag. */
export class FixedDocument {
  readonly #bytes: Buffer
  readonly #headers: Readonly<Record<string, string>>
  readonly #etag: string
  #compressed: Promise<Buffer> | undefined

  constructor(text: string, { contentType, contentSecurityPolicy, maxAgeSeconds }: FixedDocumentOptions) {
    this.#bytes = Buffer.from(text)
    this.#etag = `"${hash('sha256', this.#bytes, 'base64url').slice(0, 22)}"`
    this.#headers = {
      'content-type': contentType,
      'cache-control': maxAgeSeconds === undefined ? 'no-cache' : `public, max-age=${maxAgeSeconds}`,
      vary: 'Accept-Encoding',
      ...(contentSecurityPolicy !== undefined && { 'content-security-policy': contentSecurityPolicy }),
    }
  }

  async send({ raw: request }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const isCompressed = acceptsGzip(request.headers['accept-encoding'])
    // Representations with different bytes have different tags.
    const etag = isCompressed ? this.#etag.replace(/"$/, '-gzip"') : this.#etag
    reply.headers({ ...this.#headers, etag })
    if (noneMatchNames(request.headers['if-none-match'], etag)) return reply.status(304).send()
    if (isCompressed) reply.header('content-encoding', 'gzip')
    const bytes = isCompressed ? await this.#gzip() : this.#bytes
    // The framework makes the answer to HEAD of the bytes.
    if (request.method === 'HEAD' || bytes.length <= SLICE_BYTES) return reply.send(bytes)
    reply.header('content-length', bytes.length)
    return reply.send(Readable.from(slicesOf(bytes), { objectMode: false }))
  }

  #gzip(): Promise<Buffer> {
    // On a thread of the pool: the biggest takes a tenth of a second.
    this.#compressed ??= compress(this.#bytes, { level: 9 })
    return this.#compressed
  }
}

/** True if a client takes gzip (RFC 9110, section 12.5.3). */
export function acceptsGzip(header: string | undefined): boolean {
  return (header ?? '').split(',').some((entry) => {
    const [coding = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    return (coding === 'gzip' || coding === '*') && !parameters.some((part) => /^q=0(?:\.0{0,3})?$/.test(part))
  })
}

/**
 * A document bit by bit, as its reader takes it. The kernel takes megabytes at once, which is a millisecond: with hundreds of readers, others
 * have their turn in between.
 */
async function* slicesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES)
    await setImmediate()
  }
}
