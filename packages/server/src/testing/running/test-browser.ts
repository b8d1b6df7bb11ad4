import type { SessionRequest } from '@lade/core/wire'
import type { RunningService } from './running-service.ts'

/** How a request of a page looks, beside what the page asks for. */
export interface PageRequest extends RequestInit {
  /** Of the page; null sends none. @default the service's own */
  readonly origin?: string | null
  /** @default as a page of the origin has it that the browser was opened with */
  readonly site?: string | null
  readonly json?: unknown
}

/** Does with cookies and origins what a browser does on a page of the service. */
export class TestBrowser {
  readonly #service: RunningService
  readonly #origin: string
  /** What it would send, such as `lade-session=…`; undefined for nothing. */
  cookie: string | undefined
  /** The last `Set-Cookie`, as it came. */
  setCookie: string | null = null

  /** @param origin - of the service, as a page sees it. @default where it listens */
  constructor(service: RunningService, origin: string = service.url) {
    this.#service = service
    this.#origin = origin
  }

  async fetch(path: string, { origin, site, json, ...init }: PageRequest = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    const isRead = init.method === undefined || init.method === 'GET' || init.method === 'HEAD'
    const sentOrigin = origin === undefined && !isRead ? this.#origin : origin
    const sentSite = site === undefined ? 'same-origin' : site
    if (sentOrigin !== null && sentOrigin !== undefined) headers.set('origin', sentOrigin)
    if (sentSite !== null) headers.set('sec-fetch-site', sentSite)
    if (this.cookie !== undefined) headers.set('cookie', this.cookie)
    if (json !== undefined) headers.set('content-type', 'application/json')
    const body = json === undefined ? {} : { body: JSON.stringify(json) }
    const response = await this.#service.fetch(path, { ...init, ...body, headers })
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

  async json<Body>(path: string, request: PageRequest = {}): Promise<Body> {
    const response = await this.fetch(path, request)
    const body = (await response.json()) as Body
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`)
    return body
  }

  #take(header: string | null): void {
    this.setCookie = header
    if (header === null) return
    const [pair = ''] = header.split(';')
    this.cookie = pair.endsWith('=') ? undefined : pair
  }
}
