import http from 'node:http'
import https from 'node:https'
import { rawCidOf } from './content-ids.ts'
import type { FileList, UploadResult, Usage } from './shapes.ts'

/** One whole answer. Header names are lower-case; `rawHeaders` keeps what was sent. */
export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  json<Shape>(): Shape
}

/** A header of an answer as one string, or the empty string. */
export function headerOf(answer: Answer, name: string): string {
  const value = answer.headers[name.toLowerCase()]
  return Array.isArray(value) ? value.join(', ') : (value ?? '')
}

export interface RequestOptions {
  headers?: Record<string, string | undefined>
  body?: Uint8Array | string
  json?: unknown
}

export interface UploadOptions {
  cid?: string
  contentType?: string
  filename?: string
  headers?: Record<string, string | undefined>
  query?: string
}

/**
 * Someone who talks to the service: a base URL and the headers that say who it is.
 *
 * Every request has a connection of its own, so one refused request cannot disturb the next.
 */
export class Caller {
  readonly baseUrl: URL
  readonly contentUrl: URL
  readonly headers: Readonly<Record<string, string>>

  constructor(baseUrl: URL, contentUrl: URL, headers: Readonly<Record<string, string>>) {
    this.baseUrl = baseUrl
    this.contentUrl = contentUrl
    this.headers = headers
  }

  /** The same caller with more headers. */
  with(headers: Readonly<Record<string, string>>): Caller {
    return new Caller(this.baseUrl, this.contentUrl, { ...this.headers, ...headers })
  }

  request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    return exchange(this.baseUrl, method, path, this.#merge(options))
  }

  get(path: string, headers?: Record<string, string>): Promise<Answer> {
    return this.request('GET', path, headers === undefined ? {} : { headers })
  }

  post(path: string, json: unknown): Promise<Answer> {
    return this.request('POST', path, { json })
  }

  /** Uploads `bytes`, by default under their CIDv1 raw as text/plain. */
  upload(bytes: Uint8Array, options: UploadOptions = {}): Promise<Answer> {
    const cid = options.cid ?? rawCidOf(bytes).base32
    const headers: Record<string, string | undefined> = {
      'Content-Type': options.contentType ?? 'text/plain',
      'Content-Length': String(bytes.length),
      ...(options.filename === undefined ? {} : { 'X-Filename': encodeURIComponent(options.filename) }),
      ...options.headers,
    }
    return this.request('POST', `/api/upload?cid=${cid}${options.query ?? ''}`, { headers, body: bytes })
  }

  /** Uploads and returns the result, or throws with the whole answer. */
  async stage(bytes: Uint8Array, options: UploadOptions = {}): Promise<UploadResult> {
    const answer = await this.upload(bytes, options)
    if (answer.status !== 200) throw new Error(`upload answered ${answer.status}: ${answer.body.toString()}`)
    return answer.json<UploadResult>()
  }

  /** GET (or another method) of `/p/{cid}`, with an optional query such as `?download=true`. */
  retrieve(
    cid: string,
    options: { method?: string; query?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const path = `/p/${cid}${options.query ?? ''}`
    return exchange(this.contentUrl, options.method ?? 'GET', path, this.#merge({ headers: options.headers ?? {} }))
  }

  async usage(): Promise<Usage> {
    const answer = await this.get('/api/usage')
    if (answer.status !== 200) throw new Error(`usage answered ${answer.status}: ${answer.body.toString()}`)
    return answer.json<Usage>()
  }

  async files(query = ''): Promise<FileList> {
    const answer = await this.get(`/api/files${query}`)
    if (answer.status !== 200) throw new Error(`files answered ${answer.status}: ${answer.body.toString()}`)
    return answer.json<FileList>()
  }

  #merge(options: RequestOptions): RequestOptions {
    return { ...options, headers: { ...this.headers, ...options.headers } }
  }
}

/** Sends one request on a fresh connection and reads the whole answer. Redirects are not followed. */
export function exchange(origin: URL, method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value !== undefined) headers[name] = value
  }
  const body = options.json === undefined ? options.body : JSON.stringify(options.json)
  if (options.json !== undefined && headers['Content-Type'] === undefined) headers['Content-Type'] = 'application/json'
  if (body !== undefined && !Object.keys(headers).some((name) => name.toLowerCase() === 'content-length')) {
    headers['Content-Length'] = String(Buffer.byteLength(body))
  }
  const { protocol, hostname, port } = origin
  const send = protocol === 'https:' ? https.request : http.request
  return new Promise((resolve, reject) => {
    const request = send(
      { protocol, hostname, port, method, path, headers, agent: false, timeout: 20_000 },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const whole = Buffer.concat(chunks)
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            rawHeaders: response.rawHeaders,
            body: whole,
            json: <Shape>() => JSON.parse(whole.toString('utf8')) as Shape,
          })
        })
      },
    )
    request.on('timeout', () => request.destroy(new Error(`${method} ${path} was not answered within 20 s`)))
    request.on('error', reject)
    request.end(body)
  })
}
