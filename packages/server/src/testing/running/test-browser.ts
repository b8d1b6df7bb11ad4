import { type IncomingHttpHeaders, request } from 'node:http'
import type { SessionRequest } from '@lade/core/wire'

/** How a request of a page looks, beside what the page asks for. */
export interface PageRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly json?: unknown
  /** Of the page; null sends none. @default the service's own, except where browsers send none */
  readonly origin?: string | null
  /** What the browser says of both. @default same-origin */
  readonly site?: string | null
}

/** Does with cookies and origins what a browser does on a page of the service. */
export class TestBrowser {
  readonly #address: URL
  readonly #origin: string
  /** What it would send, such as `lade-session=…`; undefined for nothing. */
  cookie: string | undefined
  /** The last `Set-Cookie`, as it came. */
  setCookie: string | null = null

  /**
   * @param service - where it listens.
   * @param origin - of the service, as browsers know it. @default where it listens
   */
  constructor(service: { readonly url: string }, origin: string = service.url) {
    this.#address = new URL(service.url)
    this.#origin = origin
  }

  async fetch(path: string, { method = 'GET', origin, site, json, ...rest }: PageRequest = {}): Promise<Response> {
    const isRead = method === 'GET' || method === 'HEAD'
    const sentOrigin = origin === undefined && !isRead ? this.#origin : origin
    const sentSite = site === undefined ? 'same-origin' : site
    const body = json === undefined ? rest.body : JSON.stringify(json)
    const response = await this.#send(path, method, body, {
      host: new URL(this.#origin).host,
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(sentOrigin == null ? {} : { origin: sentOrigin }),
      ...(sentSite === null ? {} : { 'sec-fetch-site': sentSite }),
      ...(this.cookie === undefined ? {} : { cookie: this.cookie }),
      ...rest.headers,
    })
    this.#take(response.headers.get('set-cookie'))
    return response
  }

  signIn(json: SessionRequest, request: PageRequest = {}): Promise<Response> {
    return this.fetch('/api/session', { method: 'POST', json, ...request })
  }

  /** The status, and the code of an error. */
  async statusOf(path: string, request: PageRequest = {}): Promise<string> {
    const response = await this.fetch(path, request)
    const text = await response.text()
    return response.ok ? String(response.status) : `${response.status} ${(JSON.parse(text) as { error: string }).error}`
  }

  /** The body of an answer that must be good. */
  async json<Body>(path: string, request: PageRequest = {}): Promise<Body> {
    const response = await this.fetch(path, request)
    const body = (await response.json()) as Body
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`)
    return body
  }

  /** Not by fetch, which lets nobody choose the host. */
  #send(path: string, method: string, body: string | undefined, headers: Record<string, string>): Promise<Response> {
    const { hostname, port } = this.#address
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const sent = request({ hostname, port, path, method, headers: { ...headers, ...length } }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () => {
          const { statusCode: status = 0, headers: received } = answer
          const bytes = Buffer.concat(chunks)
          resolve(new Response(bytes.length === 0 ? null : bytes, { status, headers: headersOf(received) }))
        })
        answer.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  #take(header: string | null): void {
    this.setCookie = header
    if (header === null) return
    const [pair = ''] = header.split(';')
    this.cookie = pair.endsWith('=') ? undefined : pair
  }
}

function headersOf(received: IncomingHttpHeaders): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(received)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) headers.append(name, each)
  }
  return headers
}
